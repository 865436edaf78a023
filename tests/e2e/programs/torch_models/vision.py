"""Classifiers and segmenters of images, in the structure of torchvision's classes and of the papers' code."""
import torch
import torch.nn.functional as F
from torch import nn

from catalog import case, labels

SGD = {"kind": "sgd", "learning_rate": 0.02, "momentum": 0.9}


def images(size=8, classes=5, rows=8):
    return lambda: (torch.randn(rows, 3, size, size), labels(classes, rows))


class BasicBlock(nn.Module):
    def __init__(self, inner, outer, stride=1):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False), nn.BatchNorm2d(outer)
        self.conv2, self.bn2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False), nn.BatchNorm2d(outer)
        self.relu, self.downsample = nn.ReLU(inplace=True), None
        if stride != 1 or inner != outer:
            self.downsample = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x):
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


@case(images(16), "uneven", "stages", optimizer=SGD)
class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1, self.relu, self.maxpool = nn.Conv2d(3, 8, 7, 2, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        self.layer1, self.layer2 = nn.Sequential(BasicBlock(8, 8)), nn.Sequential(BasicBlock(8, 16, 2))
        self.avgpool, self.fc = nn.AdaptiveAvgPool2d((1, 1)), nn.Linear(16, 5)

    def forward(self, x, y):
        x = self.layer2(self.layer1(self.maxpool(self.relu(self.bn1(self.conv1(x))))))
        return F.cross_entropy(self.fc(torch.flatten(self.avgpool(x), 1)), y)


class Bottleneck(nn.Module):
    def __init__(self, inner, width, outer, stride=1, groups=1, dilation=1):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inner, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, dilation, groups=groups, dilation=dilation, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3, self.relu = nn.Conv2d(width, outer, 1, bias=False), nn.BatchNorm2d(outer), nn.ReLU(inplace=True)
        self.downsample = nn.Sequential(nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer)) if stride != 1 or inner != outer else nn.Identity()
        nn.init.zeros_(self.bn3.weight)

    def forward(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn3(self.conv3(self.relu(self.bn2(self.conv2(out)))))
        return self.relu(out + self.downsample(x))


@case(images(8), "zero 3", "micro", decomposed=True)
class ResNext(nn.Module):
    """Bottlenecks with groups and dilation."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
        self.layers = nn.Sequential(Bottleneck(8, 8, 16, 2, groups=4), Bottleneck(16, 8, 16, groups=4, dilation=2))
        self.fc = nn.Linear(16, 5)

    def forward(self, x, y):
        return F.cross_entropy(self.fc(self.layers(self.stem(x)).mean((2, 3))), y)


def conv_norm(inner, outer, size=3, stride=1, groups=1, activation=nn.ReLU6, **norm):
    layers = [nn.Conv2d(inner, outer, size, stride, (size - 1) // 2, groups=groups, bias=False), nn.BatchNorm2d(outer, **norm)]
    return nn.Sequential(*layers, *([activation(inplace=True)] if activation else []))


class InvertedResidual(nn.Module):
    def __init__(self, inner, outer, stride, expand):
        super().__init__()
        hidden = inner * expand
        self.use_res_connect = stride == 1 and inner == outer
        layers = [conv_norm(inner, hidden, 1)] if expand != 1 else []
        self.conv = nn.Sequential(*layers, conv_norm(hidden, hidden, 3, stride, hidden), nn.Conv2d(hidden, outer, 1, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x):
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


@case(images(8), "zero 3", "micro", optimizer=SGD)
class MobileNetV2(nn.Module):
    def __init__(self):
        super().__init__()
        blocks = [InvertedResidual(8, 8, 1, 1), InvertedResidual(8, 12, 2, 3), InvertedResidual(12, 12, 1, 3)]
        self.features = nn.Sequential(conv_norm(3, 8), *blocks, conv_norm(12, 24, 1))
        self.classifier = nn.Sequential(nn.Dropout(0.0), nn.Linear(24, 5))

    def forward(self, x, y):
        x = F.adaptive_avg_pool2d(self.features(x), (1, 1))
        return F.cross_entropy(self.classifier(torch.flatten(x, 1)), y)


class SqueezeExcitation(nn.Module):
    def __init__(self, width, squeeze, activation, scale_activation):
        super().__init__()
        self.avgpool, self.fc1, self.fc2 = nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, squeeze, 1), nn.Conv2d(squeeze, width, 1)
        self.activation, self.scale_activation = activation(), scale_activation()

    def forward(self, x):
        return self.scale_activation(self.fc2(self.activation(self.fc1(self.avgpool(x))))) * x


@case(images(8), "uneven", "micro")
class MobileNetV3(nn.Module):
    def __init__(self):
        super().__init__()
        norm = {"eps": 0.001, "momentum": 0.01}
        self.stem = conv_norm(3, 8, 3, 2, activation=nn.Hardswish, **norm)
        self.block = nn.Sequential(conv_norm(8, 16, 1, activation=nn.Hardswish, **norm), conv_norm(16, 16, 5, 1, 16, activation=nn.Hardswish, **norm),
                                   SqueezeExcitation(16, 8, nn.ReLU, nn.Hardsigmoid), conv_norm(16, 8, 1, activation=None, **norm))
        self.classifier = nn.Sequential(nn.Linear(8, 16), nn.Hardswish(inplace=True), nn.Dropout(p=0.0, inplace=True), nn.Linear(16, 5))

    def forward(self, x, y):
        x = self.stem(x)
        x = x + self.block(x)
        return F.cross_entropy(self.classifier(F.adaptive_avg_pool2d(x, 1).flatten(1)), y, label_smoothing=0.1)


@case(images(8), "zero 3", decomposed=True)
class EfficientNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = conv_norm(3, 8, activation=nn.SiLU)
        self.first = nn.Sequential(conv_norm(8, 16, 1, activation=nn.SiLU), conv_norm(16, 16, 3, 2, 16, activation=nn.SiLU),
                                   SqueezeExcitation(16, 4, lambda: nn.SiLU(inplace=True), nn.Sigmoid), conv_norm(16, 12, 1, activation=None))
        self.second = nn.Sequential(conv_norm(12, 24, 1, activation=nn.SiLU), conv_norm(24, 24, 5, 1, 24, activation=nn.SiLU),
                                    SqueezeExcitation(24, 4, lambda: nn.SiLU(inplace=True), nn.Sigmoid), conv_norm(24, 12, 1, activation=None))
        self.head, self.classifier = conv_norm(12, 24, 1, activation=nn.SiLU), nn.Linear(24, 5)

    def forward(self, x, y):
        x = self.first(self.stem(x))
        x = self.head(x + self.second(x))
        return F.cross_entropy(self.classifier(x.mean([2, 3])), y)


class DenseLayer(nn.Module):
    def __init__(self, inner, growth):
        super().__init__()
        self.norm1, self.conv1 = nn.BatchNorm2d(inner), nn.Conv2d(inner, 2 * growth, 1, bias=False)
        self.norm2, self.conv2 = nn.BatchNorm2d(2 * growth), nn.Conv2d(2 * growth, growth, 3, padding=1, bias=False)

    def forward(self, features):
        x = self.conv1(F.relu(self.norm1(torch.cat(features, 1))))
        return self.conv2(F.relu(self.norm2(x)))


@case(images(8), "zero 3", "stages", optimizer=SGD)
class DenseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.layers = nn.Conv2d(3, 8, 3, padding=1, bias=False), nn.ModuleList([DenseLayer(8 + 4 * i, 4) for i in range(3)])
        self.transition = nn.Sequential(nn.BatchNorm2d(20), nn.ReLU(inplace=True), nn.Conv2d(20, 10, 1, bias=False), nn.AvgPool2d(2, 2))
        self.last, self.norm, self.classifier = DenseLayer(10, 4), nn.BatchNorm2d(14), nn.Linear(14, 5)

    def forward(self, x, y):
        features = [self.stem(x)]
        for layer in self.layers:
            features.append(layer(features))
        x = self.transition(torch.cat(features, 1))
        x = F.relu(self.norm(torch.cat([x, self.last([x])], 1)), inplace=True)
        return F.cross_entropy(self.classifier(F.adaptive_avg_pool2d(x, (1, 1)).flatten(1)), y)


@case(images(14), "micro", "interleaved", optimizer=SGD)
class Vgg(nn.Module):
    """An adaptive pool of 7 to 3."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(inplace=True), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2, 2))
        self.avgpool = nn.AdaptiveAvgPool2d((3, 3))
        self.classifier = nn.Sequential(nn.Linear(72, 16), nn.ReLU(True), nn.Dropout(0.0), nn.Linear(16, 5))

    def forward(self, x, y):
        return F.cross_entropy(self.classifier(torch.flatten(self.avgpool(self.features(x)), 1)), y)


class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        return F.layer_norm(x.permute(0, 2, 3, 1), self.normalized_shape, self.weight, self.bias, self.eps).permute(0, 3, 1, 2)


class Permute(nn.Module):
    def __init__(self, *order):
        super().__init__()
        self.order = order

    def forward(self, x):
        return torch.permute(x, self.order)


class CNBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.block = nn.Sequential(nn.Conv2d(width, width, 7, padding=3, groups=width), Permute(0, 2, 3, 1), nn.LayerNorm(width, eps=1e-6), nn.Linear(width, 4 * width),
                                   nn.GELU(), nn.Linear(4 * width, width), Permute(0, 3, 1, 2))
        self.layer_scale = nn.Parameter(torch.ones(width, 1, 1) * 0.1)

    def forward(self, x):
        return self.layer_scale * self.block(x) + x


@case(images(16), "uneven", "interleaved")
class ConvNext(nn.Module):
    def __init__(self):
        super().__init__()
        down = nn.Sequential(LayerNorm2d(8, eps=1e-6), nn.Conv2d(8, 12, 2, 2))
        self.features = nn.Sequential(nn.Sequential(nn.Conv2d(3, 8, 4, 4), LayerNorm2d(8, eps=1e-6)), CNBlock(8), down, CNBlock(12))
        self.classifier = nn.Sequential(LayerNorm2d(12, eps=1e-6), nn.Flatten(1), nn.Linear(12, 5))

    def forward(self, x, y):
        return F.cross_entropy(self.classifier(F.adaptive_avg_pool2d(self.features(x), 1)), y)


class WindowAttention(nn.Module):
    def __init__(self, width, window, shift, heads):
        super().__init__()
        self.window, self.shift, self.heads = window, shift, heads
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.relative_position_bias_table = nn.Parameter(torch.randn((2 * window - 1) ** 2, heads) * 0.02)
        coords = torch.flatten(torch.stack(torch.meshgrid(torch.arange(window), torch.arange(window), indexing="ij")), 1)
        relative = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0) + window - 1
        self.register_buffer("relative_position_index", (relative[:, :, 0] * (2 * window - 1) + relative[:, :, 1]).flatten())

    def mask(self, height, width):
        count = (height // self.window) * (width // self.window)
        mask = torch.zeros(height, width)
        edges = ((0, -self.window), (-self.window, -self.shift), (-self.shift, None))
        region = 0
        for rows in edges:
            for columns in edges:
                mask[rows[0] : rows[1], columns[0] : columns[1]] = region
                region += 1
        mask = mask.view(height // self.window, self.window, width // self.window, self.window).permute(0, 2, 1, 3).reshape(count, self.window**2)
        mask = mask.unsqueeze(1) - mask.unsqueeze(2)
        return mask.masked_fill(mask != 0, -100.0).masked_fill(mask == 0, 0.0)

    def forward(self, x):
        batch, height, width, channels = x.shape
        if self.shift > 0:
            x = torch.roll(x, shifts=(-self.shift, -self.shift), dims=(1, 2))
        count, size = (height // self.window) * (width // self.window), self.window**2
        x = x.view(batch, height // self.window, self.window, width // self.window, self.window, channels)
        x = x.permute(0, 1, 3, 2, 4, 5).reshape(batch * count, size, channels)
        qkv = self.qkv(x).reshape(x.size(0), size, 3, self.heads, channels // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        attn = (q * (channels // self.heads) ** -0.5).matmul(k.transpose(-2, -1))
        bias = self.relative_position_bias_table[self.relative_position_index].view(size, size, -1)
        attn = attn + bias.permute(2, 0, 1).contiguous().unsqueeze(0)
        if self.shift > 0:
            attn = attn.view(batch, count, self.heads, size, size) + self.mask(height, width).unsqueeze(1).unsqueeze(0)
            attn = attn.view(-1, self.heads, size, size)
        x = F.softmax(attn, dim=-1).matmul(v).transpose(1, 2).reshape(x.size(0), size, channels)
        x = self.proj(x).view(batch, height // self.window, width // self.window, self.window, self.window, channels)
        x = x.permute(0, 1, 3, 2, 4, 5).reshape(batch, height, width, channels)
        return torch.roll(x, shifts=(self.shift, self.shift), dims=(1, 2)) if self.shift > 0 else x


class SwinBlock(nn.Module):
    def __init__(self, width, shift):
        super().__init__()
        self.norm1, self.attn, self.norm2 = nn.LayerNorm(width), WindowAttention(width, 2, shift, 2), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class PatchMerging(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.reduction = nn.LayerNorm(4 * width), nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x):
        x = torch.cat([x[..., 0::2, 0::2, :], x[..., 1::2, 0::2, :], x[..., 0::2, 1::2, :], x[..., 1::2, 1::2, :]], -1)
        return self.reduction(self.norm(x))


@case(images(16), "tensor", "all axes", rules=({"tensor": "*.mlp.0.weight", "sharding": ["model", None]}, {"tensor": "*.mlp.2.weight", "sharding": [None, "model"]}))
class Swin(nn.Module):
    """Shifted windows: rolls, and masks that the module computes."""

    def __init__(self, width=8):
        super().__init__()
        self.patches = nn.Sequential(nn.Conv2d(3, width, 4, 4), Permute(0, 2, 3, 1), nn.LayerNorm(width))
        self.layers = nn.Sequential(SwinBlock(width, 0), SwinBlock(width, 1), PatchMerging(width), SwinBlock(2 * width, 0))
        self.norm, self.head = nn.LayerNorm(2 * width), nn.Linear(2 * width, 5)

    def forward(self, x, y):
        x = self.norm(self.layers(self.patches(x)))
        return F.cross_entropy(self.head(x.permute(0, 3, 1, 2).mean((2, 3))), y)


class EncoderBlock(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.ln_1, self.self_attention, self.ln_2 = nn.LayerNorm(width, eps=1e-6), nn.MultiheadAttention(width, heads, batch_first=True), nn.LayerNorm(width, eps=1e-6)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Dropout(0.0), nn.Linear(2 * width, width))

    def forward(self, x):
        h = self.ln_1(x)
        h, _ = self.self_attention(h, h, h, need_weights=False)
        x = h + x
        return x + self.mlp(self.ln_2(x))


@case(images(8), "tensor", "stages", decomposed=True, rules=({"tensor": "*.mlp.0.weight", "sharding": ["model", None]}, {"tensor": "*.mlp.3.weight", "sharding": [None, "model"]}))
class VisionTransformer(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.conv_proj, self.class_token, self.pos_embedding = nn.Conv2d(3, width, 4, 4), nn.Parameter(torch.zeros(1, 1, width)), nn.Parameter(torch.randn(1, 5, width) * 0.02)
        self.layers, self.ln, self.heads = nn.Sequential(*(EncoderBlock(width, 4) for _ in range(2))), nn.LayerNorm(width, eps=1e-6), nn.Linear(width, 5)

    def forward(self, x, y):
        n = x.shape[0]
        x = self.conv_proj(x).reshape(n, 16, -1).permute(0, 2, 1)
        x = torch.cat([self.class_token.expand(n, -1, -1), x], dim=1) + self.pos_embedding
        logits = self.heads(self.ln(self.layers(x))[:, 0])
        return F.cross_entropy(logits, y), logits


class MixerBlock(nn.Module):
    def __init__(self, patches, width):
        super().__init__()
        self.norm1, self.tokens = nn.LayerNorm(width), nn.Sequential(nn.Linear(patches, 2 * patches), nn.GELU(), nn.Linear(2 * patches, patches))
        self.norm2, self.channels = nn.LayerNorm(width), nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm2(x))


@case(images(12), "tensor", "all axes", rules=({"tensor": "*.channels.0.weight", "sharding": ["model", None]}, {"tensor": "*.channels.2.weight", "sharding": [None, "model"]}))
class Mixer(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.stem, self.blocks = nn.Conv2d(3, width, 4, 4), nn.Sequential(*(MixerBlock(9, width) for _ in range(2)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, 5)

    def forward(self, x, y):
        x = self.blocks(self.stem(x).flatten(2).transpose(1, 2))
        return F.cross_entropy(self.head(self.norm(x).mean(1)), y)


class ShuffleUnit(nn.Module):
    def __init__(self, width):
        super().__init__()
        half = width // 2
        self.branch = nn.Sequential(nn.Conv2d(half, half, 1, bias=False), nn.BatchNorm2d(half), nn.ReLU(inplace=True), nn.Conv2d(half, half, 3, 1, 1, groups=half, bias=False),
                                    nn.BatchNorm2d(half), nn.Conv2d(half, half, 1, bias=False), nn.BatchNorm2d(half), nn.ReLU(inplace=True))

    def forward(self, x):
        x1, x2 = x.chunk(2, dim=1)
        x = torch.cat((x1, self.branch(x2)), dim=1)
        batch, channels, height, width = x.size()
        return torch.transpose(x.view(batch, 2, channels // 2, height, width), 1, 2).contiguous().view(batch, channels, height, width)


@case(images(9), "zero 3", "micro", optimizer=SGD)
class ShuffleNet(nn.Module):
    """Shuffled channels, and Inception's branches with a pool that rounds up."""

    def __init__(self):
        super().__init__()
        self.stem, self.pool = conv_norm(3, 8), nn.MaxPool2d(3, 2, ceil_mode=True)
        self.units, self.left, self.right = nn.Sequential(ShuffleUnit(8), ShuffleUnit(8)), nn.Conv2d(8, 4, 1), nn.Sequential(nn.AvgPool2d(3, 1, 1), nn.Conv2d(8, 6, 1))
        self.fc = nn.Linear(10, 5)

    def forward(self, x, y):
        x = self.units(self.pool(self.stem(x)))
        x = torch.cat([F.relu(self.left(x)), F.relu(self.right(x))], 1)
        return F.cross_entropy(self.fc(F.adaptive_max_pool2d(x, 1).flatten(1)), y)


class DoubleConv(nn.Module):
    def __init__(self, inner, outer):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(inner, outer, 3, padding=1), nn.BatchNorm2d(outer), nn.ReLU(inplace=True), nn.Conv2d(outer, outer, 3, padding=1), nn.ReLU(inplace=True))

    def forward(self, x):
        return self.net(x)


@case(lambda: (torch.randn(8, 3, 12, 12), (torch.rand(8, 1, 12, 12) > 0.5).float()), "zero 3", "stages", optimizer=SGD)
class UNetSegmentation(nn.Module):
    """Transposed convolutions and interpolation; cross entropy and Dice."""

    def __init__(self):
        super().__init__()
        self.enc1, self.enc2, self.middle = DoubleConv(3, 4), DoubleConv(4, 8), DoubleConv(8, 12)
        self.up2, self.dec2 = nn.ConvTranspose2d(12, 8, 2, stride=2), DoubleConv(16, 8)
        self.up1, self.dec1, self.head = nn.Conv2d(8, 4, 1), DoubleConv(8, 4), nn.Conv2d(4, 1, 1)

    def forward(self, x, y):
        e1 = self.enc1(x)
        e2 = self.enc2(F.max_pool2d(e1, 2))
        d2 = self.dec2(torch.cat([self.up2(self.middle(F.max_pool2d(e2, 2))), e2], dim=1))
        d1 = self.up1(F.interpolate(d2, scale_factor=2, mode="bilinear", align_corners=True))
        logits = self.head(self.dec1(torch.cat([d1, e1], dim=1)))
        p = torch.sigmoid(logits)
        dice = 1 - (2 * (p * y).sum((1, 2, 3)) + 1) / (p.sum((1, 2, 3)) + y.sum((1, 2, 3)) + 1)
        return F.binary_cross_entropy_with_logits(logits, y) + dice.mean()


@case(lambda: (torch.randn(8, 3, 9, 9), labels(4, 8, 9, 9)), "uneven", "micro", decomposed=True)
class DeepLab(nn.Module):
    """Dilated convolutions beside a global pool; labels for each pixel, some ignored, classes with weights."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU())
        self.convs = nn.ModuleList([nn.Conv2d(8, 4, 1), nn.Conv2d(8, 4, 3, padding=2, dilation=2), nn.Conv2d(8, 4, 3, padding=3, dilation=3)])
        self.pooled, self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(8, 4, 1), nn.ReLU()), nn.Conv2d(16, 4, 1)
        self.register_buffer("weights", torch.tensor([0.5, 1.0, 2.0, 1.5]))

    def forward(self, x, y):
        size = x.shape[-2:]
        x = self.stem(x)
        parts = [F.relu(conv(x)) for conv in self.convs]
        parts.append(F.interpolate(self.pooled(x), size=x.shape[-2:], mode="bilinear", align_corners=False))
        logits = F.interpolate(self.head(torch.cat(parts, dim=1)), size=size, mode="bilinear", align_corners=False)
        return F.cross_entropy(logits, y, weight=self.weights, ignore_index=3)
