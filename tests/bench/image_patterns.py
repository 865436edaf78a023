"""Convolutions, pooling and batch normalisation for kernels.py, as kernel_patterns.py describes. Tensors are channels-last, as JAX has them; PyTorch
gets the same memory as its channels_last format."""
from kernel_patterns import f, lax, torch_vjp, vjp

LAST, FIRST = ("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW")


def conv(stride=1, padding="SAME", groups=1, dilation=1, layout=LAST):
    def run(np, x, w):
        return lax().conv_general_dilated(x, w, (stride,) * (w.ndim - 2), padding, rhs_dilation=(dilation,) * (w.ndim - 2),
                                          dimension_numbers=layout, feature_group_count=groups)
    return run


def torch_conv(stride=1, padding=1, groups=1, dilation=1, layout=LAST):
    def run(t, x, w):
        convolve = t.nn.functional.conv2d
        if layout == FIRST:
            return convolve(x, w, None, stride, padding, dilation, groups)
        return convolve(x.permute(0, 3, 1, 2), w.permute(3, 2, 0, 1), None, stride, padding, dilation, groups).permute(0, 2, 3, 1)
    return run


def conv_grad(**options):
    return lambda np, *a: vjp(lambda x, w: conv(**options)(np, x, w), *a)


def max_pool(np, x):
    return lax().reduce_window(x, -np.inf, lax().max, (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0)))


def torch_max_pool(t, x):
    return t.nn.functional.max_pool2d(x.permute(0, 3, 1, 2), 3, 2, 1).permute(0, 2, 3, 1)


def average_pool(np, x):
    return lax().reduce_window(x, 0.0, lax().add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4


def torch_average_pool(t, x):
    return t.nn.functional.avg_pool2d(x.permute(0, 3, 1, 2), 2).permute(0, 2, 3, 1)


def batch_norm(np, x, g, c):
    mean = np.mean(x, (0, 1, 2))
    variance = np.mean(np.square(x), (0, 1, 2)) - np.square(mean)
    return (x - mean) * (lax().rsqrt(variance + 1e-5) * g) + c


def torch_batch_norm(t, x, g, c):
    return t.nn.functional.batch_norm(x.permute(0, 3, 1, 2), None, None, g, c, training=True).permute(0, 2, 3, 1)


IMAGES, FEATURES = f(16, 64, 64, 3), f(16, 32, 32, 64)

PATTERNS = [
    ("conv_3x3", [FEATURES, f(3, 3, 64, 64)], conv(), torch_conv()),
    ("conv_3x3_small_images", [f(16, 4, 4, 512), f(3, 3, 512, 512)], conv(), torch_conv()),
    ("conv_3x3_grad", [FEATURES, f(3, 3, 64, 64), FEATURES], conv_grad(), torch_vjp(torch_conv())),
    ("conv_3x3_stride_2_grad", [FEATURES, f(3, 3, 64, 128), f(16, 16, 16, 128)], conv_grad(stride=2, padding=((1, 1), (1, 1))),
     torch_vjp(torch_conv(stride=2))),
    ("conv_7x7_of_images", [IMAGES, f(7, 7, 3, 64)], conv(stride=2, padding=((3, 3), (3, 3))), torch_conv(stride=2, padding=3)),
    ("conv_1x1", [FEATURES, f(1, 1, 64, 256)], conv(), torch_conv(padding=0)),
    ("conv_dilated", [FEATURES, f(3, 3, 64, 64)], conv(dilation=2), torch_conv(padding=2, dilation=2)),
    ("conv_groups", [f(16, 16, 16, 256), f(3, 3, 8, 256)], conv(groups=32), torch_conv(groups=32)),
    ("conv_groups_grad", [f(16, 16, 16, 256), f(3, 3, 8, 256), f(16, 16, 16, 256)], conv_grad(groups=32), torch_vjp(torch_conv(groups=32))),
    ("conv_channels_first", [f(16, 64, 32, 32), f(64, 64, 3, 3)], conv(layout=FIRST), torch_conv(layout=FIRST)),
    ("conv_channels_first_grad", [f(16, 64, 32, 32), f(64, 64, 3, 3), f(16, 64, 32, 32)], conv_grad(layout=FIRST), torch_vjp(torch_conv(layout=FIRST))),
    ("conv_channels_first_stride_2_grad", [f(16, 64, 32, 32), f(128, 64, 3, 3), f(16, 128, 16, 16)],
     conv_grad(layout=FIRST, stride=2, padding=((1, 1), (1, 1))), torch_vjp(torch_conv(layout=FIRST, stride=2))),
    ("conv_depthwise", [FEATURES, f(3, 3, 1, 64)], conv(groups=64), torch_conv(groups=64)),
    ("conv_depthwise_grad", [FEATURES, f(3, 3, 1, 64), FEATURES], conv_grad(groups=64), torch_vjp(torch_conv(groups=64))),
    ("conv_depthwise_stride_2_grad", [FEATURES, f(3, 3, 1, 64), f(16, 16, 16, 64)], conv_grad(groups=64, stride=2, padding=((1, 1), (1, 1))),
     torch_vjp(torch_conv(groups=64, stride=2))),
    ("conv_depthwise_7x7", [f(16, 16, 16, 96), f(7, 7, 1, 96)], conv(groups=96), torch_conv(groups=96, padding=3)),
    ("conv_depthwise_7x7_grad", [f(16, 16, 16, 96), f(7, 7, 1, 96), f(16, 16, 16, 96)], conv_grad(groups=96), torch_vjp(torch_conv(groups=96, padding=3))),
    ("conv_depthwise_channels_first_grad", [f(16, 64, 32, 32), f(64, 1, 3, 3), f(16, 64, 32, 32)], conv_grad(layout=FIRST, groups=64),
     torch_vjp(torch_conv(layout=FIRST, groups=64))),
    ("max_pool", [FEATURES], max_pool, torch_max_pool),
    ("max_pool_grad", [FEATURES, f(16, 16, 16, 64)], lambda np, *a: vjp(lambda x: max_pool(np, x), *a), torch_vjp(torch_max_pool)),
    ("average_pool", [FEATURES], average_pool, torch_average_pool),
    ("average_pool_grad", [FEATURES, f(16, 16, 16, 64)], lambda np, *a: vjp(lambda x: average_pool(np, x), *a), torch_vjp(torch_average_pool)),
    ("batch_norm", [FEATURES, f(64), f(64)], batch_norm, torch_batch_norm),
    ("batch_norm_grad", [FEATURES, f(64), f(64), FEATURES], lambda np, *a: vjp(lambda *p: batch_norm(np, *p), *a), torch_vjp(torch_batch_norm)),
]
