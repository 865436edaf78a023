// Constants: NaN and infinities, hexadecimal, booleans, bf16, empty, as JAX 0.10.2 prints it: printed back unchanged, also by way of the generic form.
// RUN: sgd-opt %s > %t
// RUN: grep -v "^//" %s | diff - %t
// RUN: sgd-opt %s -mlir-print-op-generic | sgd-opt | diff - %t
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main() -> (tensor<4xf32> {jax.result_info = "result[0]"}, tensor<2x2xui8> {jax.result_info = "result[1]"}, tensor<128xui16> {jax.result_info = "result[2]"}, tensor<2xi1> {jax.result_info = "result[3]"}, tensor<3xbf16> {jax.result_info = "result[4]"}, tensor<0x3xf32> {jax.result_info = "result[5]"}, tensor<4x4xui32> {jax.result_info = "result[6]"}) {
    %cst = stablehlo.constant dense<[0x7FC00000, 0x7F800000, 0xFF800000, 1.500000e+00]> : tensor<4xf32>
    %c = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xui8>
    %c_0 = stablehlo.constant dense<"0x00000100020003000400050006000700080009000A000B000C000D000E000F0010001100120013001400150016001700180019001A001B001C001D001E001F0020002100220023002400250026002700280029002A002B002C002D002E002F0030003100320033003400350036003700380039003A003B003C003D003E003F0040004100420043004400450046004700480049004A004B004C004D004E004F0050005100520053005400550056005700580059005A005B005C005D005E005F0060006100620063006400650066006700680069006A006B006C006D006E006F0070007100720073007400750076007700780079007A007B007C007D007E007F00"> : tensor<128xui16>
    %c_1 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
    %cst_2 = stablehlo.constant dense<[0x7FC0, 1.000000e+00, 2.000000e+00]> : tensor<3xbf16>
    %cst_3 = stablehlo.constant dense<> : tensor<0x3xf32>
    %c_4 = stablehlo.constant dense<7> : tensor<4x4xui32>
    return %cst, %c, %c_0, %c_1, %cst_2, %cst_3, %c_4 : tensor<4xf32>, tensor<2x2xui8>, tensor<128xui16>, tensor<2xi1>, tensor<3xbf16>, tensor<0x3xf32>, tensor<4x4xui32>
  }
}

