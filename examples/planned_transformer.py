"""A decoder-only transformer of 2 layers, planned for at most 2,048 tokens, as TVM 0.27 prints it.

Built with TVM's own frontend and passes; weights are parameters. Not formatted on purpose: this is what a dump looks like.
"""

# from typing import TypeVar
# from tvm.script import ir as I
# from tvm.script import tirx as T
# from tvm.tirx.layout import Axis
# from tvm.script import relax as R

n = TypeVar("n")
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def fused_full_triu(n: T.int64, trilu_intermediate: T.Buffer((T.int64(1), T.int64(1), n, n), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_full_intermediate = T.sblock_alloc_buffer((T.int64(1), T.int64(1), n, n))
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(1), n, n):
            with T.sblock("T_full"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads()
                T.writes(T_full_intermediate[v_ax0, v_ax1, v_ax2, v_ax3])
                T_full_intermediate[v_ax0, v_ax1, v_ax2, v_ax3] = T.float32(-1000000000.0)
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(1), n, n):
            with T.sblock("trilu"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(T_full_intermediate[v_i0, v_i1, v_i2, v_i3])
                T.writes(trilu_intermediate[v_i0, v_i1, v_i2, v_i3])
                trilu_intermediate[v_i0, v_i1, v_i2, v_i3] = T.Select(v_i2 < v_i3, T_full_intermediate[v_i0, v_i1, v_i2, v_i3], T.float32(0.0))

    @T.prim_func(private=True, s_tir=True)
    def fused_matmul1_divide_add(permute_dims1: T.Buffer((T.int64(1), T.int64(4), n, T.int64(16)), "float32"), permute_dims6: T.Buffer((T.int64(1), T.int64(4), T.int64(16), n), "float32"), triu: T.Buffer((T.int64(1), T.int64(1), n, n), "float32"), T_add_intermediate: T.Buffer((T.int64(1), T.int64(4), n, n), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        matmul_intermediate = T.sblock_alloc_buffer((T.int64(1), T.int64(4), n, n))
        T_divide_intermediate = T.sblock_alloc_buffer((T.int64(1), T.int64(4), n, n))
        for i0, i1, i2, i3, k in T.grid(T.int64(1), T.int64(4), n, n, T.int64(16)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_i3, v_k = T.axis.remap("SSSSR", [i0, i1, i2, i3, k])
                T.reads(permute_dims1[v_i0, v_i1, v_i2, v_k], permute_dims6[v_i0, v_i1, v_k, v_i3])
                T.writes(matmul_intermediate[v_i0, v_i1, v_i2, v_i3])
                with T.init():
                    matmul_intermediate[v_i0, v_i1, v_i2, v_i3] = T.float32(0.0)
                matmul_intermediate[v_i0, v_i1, v_i2, v_i3] = matmul_intermediate[v_i0, v_i1, v_i2, v_i3] + permute_dims1[v_i0, v_i1, v_i2, v_k] * permute_dims6[v_i0, v_i1, v_k, v_i3]
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(4), n, n):
            with T.sblock("T_divide"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(matmul_intermediate[v_ax0, v_ax1, v_ax2, v_ax3])
                T.writes(T_divide_intermediate[v_ax0, v_ax1, v_ax2, v_ax3])
                T_divide_intermediate[v_ax0, v_ax1, v_ax2, v_ax3] = matmul_intermediate[v_ax0, v_ax1, v_ax2, v_ax3] / T.float32(4.0)
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(4), n, n):
            with T.sblock("T_add"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(T_divide_intermediate[v_ax0, v_ax1, v_ax2, v_ax3], triu[v_ax0, T.int64(0), v_ax2, v_ax3])
                T.writes(T_add_intermediate[v_ax0, v_ax1, v_ax2, v_ax3])
                T_add_intermediate[v_ax0, v_ax1, v_ax2, v_ax3] = T_divide_intermediate[v_ax0, v_ax1, v_ax2, v_ax3] + triu[v_ax0, T.int64(0), v_ax2, v_ax3]

    @T.prim_func(private=True, s_tir=True)
    def fused_matmul3_silu_multiply(rms_norm1: T.Buffer((T.int64(1), n, T.int64(64)), "float32"), permute_dims9: T.Buffer((T.int64(64), T.int64(256)), "float32"), matmul7: T.Buffer((T.int64(1), n, T.int64(256)), "float32"), T_multiply_intermediate_1: T.Buffer((T.int64(1), n, T.int64(256)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        matmul_intermediate = T.sblock_alloc_buffer((T.int64(1), n, T.int64(256)))
        compute = T.sblock_alloc_buffer((T.int64(1), n, T.int64(256)))
        T_multiply_intermediate = T.sblock_alloc_buffer((T.int64(1), n, T.int64(256)))
        for i0, i1, i2, k in T.grid(T.int64(1), n, T.int64(256), T.int64(64)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(rms_norm1[v_i0, v_i1, v_k], permute_dims9[v_k, v_i2])
                T.writes(matmul_intermediate[v_i0, v_i1, v_i2])
                with T.init():
                    matmul_intermediate[v_i0, v_i1, v_i2] = T.float32(0.0)
                matmul_intermediate[v_i0, v_i1, v_i2] = matmul_intermediate[v_i0, v_i1, v_i2] + rms_norm1[v_i0, v_i1, v_k] * permute_dims9[v_k, v_i2]
        for i0, i1, i2 in T.grid(T.int64(1), n, T.int64(256)):
            with T.sblock("compute"):
                v_i0, v_i1, v_i2 = T.axis.remap("SSS", [i0, i1, i2])
                T.reads(matmul_intermediate[v_i0, v_i1, v_i2])
                T.writes(compute[v_i0, v_i1, v_i2])
                compute[v_i0, v_i1, v_i2] = T.sigmoid(matmul_intermediate[v_i0, v_i1, v_i2])
        for ax0, ax1, ax2 in T.grid(T.int64(1), n, T.int64(256)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(matmul_intermediate[v_ax0, v_ax1, v_ax2], compute[v_ax0, v_ax1, v_ax2])
                T.writes(T_multiply_intermediate[v_ax0, v_ax1, v_ax2])
                T_multiply_intermediate[v_ax0, v_ax1, v_ax2] = matmul_intermediate[v_ax0, v_ax1, v_ax2] * compute[v_ax0, v_ax1, v_ax2]
        for ax0, ax1, ax2 in T.grid(T.int64(1), n, T.int64(256)):
            with T.sblock("T_multiply1"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(T_multiply_intermediate[v_ax0, v_ax1, v_ax2], matmul7[v_ax0, v_ax1, v_ax2])
                T.writes(T_multiply_intermediate_1[v_ax0, v_ax1, v_ax2])
                T_multiply_intermediate_1[v_ax0, v_ax1, v_ax2] = T_multiply_intermediate[v_ax0, v_ax1, v_ax2] * matmul7[v_ax0, v_ax1, v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def fused_matmul4_add1(mul: T.Buffer((T.int64(1), n, T.int64(256)), "float32"), permute_dims11: T.Buffer((T.int64(256), T.int64(64)), "float32"), add1: T.Buffer((T.int64(1), n, T.int64(64)), "float32"), T_add_intermediate: T.Buffer((T.int64(1), n, T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        matmul_intermediate = T.sblock_alloc_buffer((T.int64(1), n, T.int64(64)))
        for i0, i1, i2, k in T.grid(T.int64(1), n, T.int64(64), T.int64(256)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(mul[v_i0, v_i1, v_k], permute_dims11[v_k, v_i2])
                T.writes(matmul_intermediate[v_i0, v_i1, v_i2])
                with T.init():
                    matmul_intermediate[v_i0, v_i1, v_i2] = T.float32(0.0)
                matmul_intermediate[v_i0, v_i1, v_i2] = matmul_intermediate[v_i0, v_i1, v_i2] + mul[v_i0, v_i1, v_k] * permute_dims11[v_k, v_i2]
        for ax0, ax1, ax2 in T.grid(T.int64(1), n, T.int64(64)):
            with T.sblock("T_add"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(add1[v_ax0, v_ax1, v_ax2], matmul_intermediate[v_ax0, v_ax1, v_ax2])
                T.writes(T_add_intermediate[v_ax0, v_ax1, v_ax2])
                T_add_intermediate[v_ax0, v_ax1, v_ax2] = add1[v_ax0, v_ax1, v_ax2] + matmul_intermediate[v_ax0, v_ax1, v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def fused_matmul_add1(reshape5: T.Buffer((T.int64(1), n, T.int64(64)), "float32"), permute_dims8: T.Buffer((T.int64(64), T.int64(64)), "float32"), reshape1: T.Buffer((T.int64(1), n, T.int64(64)), "float32"), T_add_intermediate: T.Buffer((T.int64(1), n, T.int64(64)), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        matmul_intermediate = T.sblock_alloc_buffer((T.int64(1), n, T.int64(64)))
        for i0, i1, i2, k in T.grid(T.int64(1), n, T.int64(64), T.int64(64)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(reshape5[v_i0, v_i1, v_k], permute_dims8[v_k, v_i2])
                T.writes(matmul_intermediate[v_i0, v_i1, v_i2])
                with T.init():
                    matmul_intermediate[v_i0, v_i1, v_i2] = T.float32(0.0)
                matmul_intermediate[v_i0, v_i1, v_i2] = matmul_intermediate[v_i0, v_i1, v_i2] + reshape5[v_i0, v_i1, v_k] * permute_dims8[v_k, v_i2]
        for ax0, ax1, ax2 in T.grid(T.int64(1), n, T.int64(64)):
            with T.sblock("T_add"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(reshape1[v_ax0, v_ax1, v_ax2], matmul_intermediate[v_ax0, v_ax1, v_ax2])
                T.writes(T_add_intermediate[v_ax0, v_ax1, v_ax2])
                T_add_intermediate[v_ax0, v_ax1, v_ax2] = reshape1[v_ax0, v_ax1, v_ax2] + matmul_intermediate[v_ax0, v_ax1, v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def fused_transpose1_transpose2(reshape3: T.Buffer((T.int64(1), n, T.int64(4), T.int64(16)), "float32"), T_transpose_intermediate_1: T.Buffer((T.int64(1), T.int64(4), T.int64(16), n), "float32")):
        T.func_attr({"tirx.noalias": True})
        # with T.sblock("root"):
        T_transpose_intermediate = T.sblock_alloc_buffer((T.int64(1), T.int64(4), n, T.int64(16)))
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(4), n, T.int64(16)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(reshape3[v_ax0, v_ax2, v_ax1, v_ax3])
                T.writes(T_transpose_intermediate[v_ax0, v_ax1, v_ax2, v_ax3])
                T_transpose_intermediate[v_ax0, v_ax1, v_ax2, v_ax3] = reshape3[v_ax0, v_ax2, v_ax1, v_ax3]
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(4), T.int64(16), n):
            with T.sblock("T_transpose1"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(T_transpose_intermediate[v_ax0, v_ax1, v_ax3, v_ax2])
                T.writes(T_transpose_intermediate_1[v_ax0, v_ax1, v_ax2, v_ax3])
                T_transpose_intermediate_1[v_ax0, v_ax1, v_ax2, v_ax3] = T_transpose_intermediate[v_ax0, v_ax1, v_ax3, v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def matmul(rms_norm: T.Buffer((T.int64(1), n, T.int64(64)), "float32"), permute_dims: T.Buffer((T.int64(64), T.int64(64)), "float32"), matmul: T.Buffer((T.int64(1), n, T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, k in T.grid(T.int64(1), n, T.int64(64), T.int64(64)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(rms_norm[v_i0, v_i1, v_k], permute_dims[v_k, v_i2])
                T.writes(matmul[v_i0, v_i1, v_i2])
                with T.init():
                    matmul[v_i0, v_i1, v_i2] = T.float32(0.0)
                matmul[v_i0, v_i1, v_i2] = matmul[v_i0, v_i1, v_i2] + rms_norm[v_i0, v_i1, v_k] * permute_dims[v_k, v_i2]

    @T.prim_func(private=True, s_tir=True)
    def matmul2(softmax: T.Buffer((T.int64(1), T.int64(4), n, n), "float32"), permute_dims5: T.Buffer((T.int64(1), T.int64(4), n, T.int64(16)), "float32"), matmul: T.Buffer((T.int64(1), T.int64(4), n, T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, i3, k in T.grid(T.int64(1), T.int64(4), n, T.int64(16), n):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_i3, v_k = T.axis.remap("SSSSR", [i0, i1, i2, i3, k])
                T.reads(softmax[v_i0, v_i1, v_i2, v_k], permute_dims5[v_i0, v_i1, v_k, v_i3])
                T.writes(matmul[v_i0, v_i1, v_i2, v_i3])
                with T.init():
                    matmul[v_i0, v_i1, v_i2, v_i3] = T.float32(0.0)
                matmul[v_i0, v_i1, v_i2, v_i3] = matmul[v_i0, v_i1, v_i2, v_i3] + softmax[v_i0, v_i1, v_i2, v_k] * permute_dims5[v_i0, v_i1, v_k, v_i3]

    @T.prim_func(private=True, s_tir=True)
    def matmul3(rms_norm1: T.Buffer((T.int64(1), n, T.int64(64)), "float32"), permute_dims9: T.Buffer((T.int64(64), T.int64(256)), "float32"), matmul: T.Buffer((T.int64(1), n, T.int64(256)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, k in T.grid(T.int64(1), n, T.int64(256), T.int64(64)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(rms_norm1[v_i0, v_i1, v_k], permute_dims9[v_k, v_i2])
                T.writes(matmul[v_i0, v_i1, v_i2])
                with T.init():
                    matmul[v_i0, v_i1, v_i2] = T.float32(0.0)
                matmul[v_i0, v_i1, v_i2] = matmul[v_i0, v_i1, v_i2] + rms_norm1[v_i0, v_i1, v_k] * permute_dims9[v_k, v_i2]

    @T.prim_func(private=True, s_tir=True)
    def matmul5(rms_norm4: T.Buffer((T.int64(1), n, T.int64(64)), "float32"), permute_dims24: T.Buffer((T.int64(64), T.int64(128)), "float32"), matmul: T.Buffer((T.int64(1), n, T.int64(128)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        for i0, i1, i2, k in T.grid(T.int64(1), n, T.int64(128), T.int64(64)):
            with T.sblock("matmul"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(rms_norm4[v_i0, v_i1, v_k], permute_dims24[v_k, v_i2])
                T.writes(matmul[v_i0, v_i1, v_i2])
                with T.init():
                    matmul[v_i0, v_i1, v_i2] = T.float32(0.0)
                matmul[v_i0, v_i1, v_i2] = matmul[v_i0, v_i1, v_i2] + rms_norm4[v_i0, v_i1, v_k] * permute_dims24[v_k, v_i2]

    @T.prim_func(private=True, s_tir=True)
    def reshape(tokens: T.Buffer((T.int64(1), n), "int32"), T_reshape: T.Buffer((n,), "int32")):
        T.func_attr({"op_pattern": 8, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0 in range(n):
            with T.sblock("T_reshape"):
                v_ax0 = T.axis.spatial(n, ax0)
                T.reads(tokens[T.int64(0), v_ax0 % n])
                T.writes(T_reshape[v_ax0])
                T_reshape[v_ax0] = tokens[T.int64(0), v_ax0 % n]

    @T.prim_func(private=True, s_tir=True)
    def reshape1(take: T.Buffer((n, T.int64(64)), "float32"), T_reshape: T.Buffer((T.int64(1), n, T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 8, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2 in T.grid(T.int64(1), n, T.int64(64)):
            with T.sblock("T_reshape"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(take[(v_ax2 // T.int64(64) + v_ax0 * n + v_ax1) % n, v_ax2 % T.int64(64)])
                T.writes(T_reshape[v_ax0, v_ax1, v_ax2])
                T_reshape[v_ax0, v_ax1, v_ax2] = take[(v_ax2 // T.int64(64) + v_ax0 * n + v_ax1) % n, v_ax2 % T.int64(64)]

    @T.prim_func(private=True, s_tir=True)
    def reshape2(matmul: T.Buffer((T.int64(1), n, T.int64(64)), "float32"), T_reshape: T.Buffer((T.int64(1), n, T.int64(4), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 8, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), n, T.int64(4), T.int64(16)):
            with T.sblock("T_reshape"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(matmul[T.int64(0), ((v_ax2 * T.int64(16) + v_ax3) // T.int64(64) + v_ax0 * n + v_ax1) % n, (v_ax2 * T.int64(16) + v_ax3) % T.int64(64)])
                T.writes(T_reshape[v_ax0, v_ax1, v_ax2, v_ax3])
                T_reshape[v_ax0, v_ax1, v_ax2, v_ax3] = matmul[T.int64(0), ((v_ax2 * T.int64(16) + v_ax3) // T.int64(64) + v_ax0 * n + v_ax1) % n, (v_ax2 * T.int64(16) + v_ax3) % T.int64(64)]

    @T.prim_func(private=True, s_tir=True)
    def reshape3(permute_dims7: T.Buffer((T.int64(1), n, T.int64(4), T.int64(16)), "float32"), T_reshape: T.Buffer((T.int64(1), n, T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 8, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2 in T.grid(T.int64(1), n, T.int64(64)):
            with T.sblock("T_reshape"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(permute_dims7[T.int64(0), (v_ax2 // T.int64(64) + v_ax0 * n + v_ax1) % n, v_ax2 % T.int64(64) // T.int64(16), v_ax2 % T.int64(16)])
                T.writes(T_reshape[v_ax0, v_ax1, v_ax2])
                T_reshape[v_ax0, v_ax1, v_ax2] = permute_dims7[T.int64(0), (v_ax2 // T.int64(64) + v_ax0 * n + v_ax1) % n, v_ax2 % T.int64(64) // T.int64(16), v_ax2 % T.int64(16)]

    @T.prim_func(private=True, s_tir=True)
    def rms_norm(reshape1: T.Buffer((T.int64(1), n, T.int64(64)), "float32"), layers_0_attention_norm_weight: T.Buffer((T.int64(64),), "float32"), T_cast: T.Buffer((T.int64(1), n, T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        T_cast_1 = T.sblock_alloc_buffer((T.int64(1), n, T.int64(64)))
        T_multiply = T.sblock_alloc_buffer((T.int64(1), n, T.int64(64)))
        T_multiply_red = T.sblock_alloc_buffer((T.int64(1), n))
        rsqrt = T.sblock_alloc_buffer((T.int64(1), n))
        T_cast_2 = T.sblock_alloc_buffer((T.int64(64),))
        T_rms_norm = T.sblock_alloc_buffer((T.int64(1), n, T.int64(64)))
        for ax0, ax1, ax2 in T.grid(T.int64(1), n, T.int64(64)):
            with T.sblock("T_cast"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(reshape1[v_ax0, v_ax1, v_ax2])
                T.writes(T_cast_1[v_ax0, v_ax1, v_ax2])
                T_cast_1[v_ax0, v_ax1, v_ax2] = reshape1[v_ax0, v_ax1, v_ax2]
        for ax0, ax1, ax2 in T.grid(T.int64(1), n, T.int64(64)):
            with T.sblock("T_multiply"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(T_cast_1[v_ax0, v_ax1, v_ax2])
                T.writes(T_multiply[v_ax0, v_ax1, v_ax2])
                T_multiply[v_ax0, v_ax1, v_ax2] = T_cast_1[v_ax0, v_ax1, v_ax2] * T_cast_1[v_ax0, v_ax1, v_ax2]
        for ax0, ax1, k2 in T.grid(T.int64(1), n, T.int64(64)):
            with T.sblock("T_multiply_red"):
                v_ax0, v_ax1, v_k2 = T.axis.remap("SSR", [ax0, ax1, k2])
                T.reads(T_multiply[v_ax0, v_ax1, v_k2])
                T.writes(T_multiply_red[v_ax0, v_ax1])
                with T.init():
                    T_multiply_red[v_ax0, v_ax1] = T.float32(0.0)
                T_multiply_red[v_ax0, v_ax1] = T_multiply_red[v_ax0, v_ax1] + T_multiply[v_ax0, v_ax1, v_k2]
        for ax0, ax1 in T.grid(T.int64(1), n):
            with T.sblock("rsqrt"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(T_multiply_red[v_ax0, v_ax1])
                T.writes(rsqrt[v_ax0, v_ax1])
                rsqrt[v_ax0, v_ax1] = T.rsqrt(T_multiply_red[v_ax0, v_ax1] / T.float32(64.0) + T.float32(1.0000000000000001e-05))
        for ax0 in range(T.int64(64)):
            with T.sblock("T_cast_1"):
                v_ax0 = T.axis.spatial(T.int64(64), ax0)
                T.reads(layers_0_attention_norm_weight[v_ax0])
                T.writes(T_cast_2[v_ax0])
                T_cast_2[v_ax0] = layers_0_attention_norm_weight[v_ax0]
        for ax0, ax1, ax2 in T.grid(T.int64(1), n, T.int64(64)):
            with T.sblock("T_rms_norm"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(rsqrt[v_ax0, v_ax1], T_cast_1[v_ax0, v_ax1, v_ax2], T_cast_2[v_ax2])
                T.writes(T_rms_norm[v_ax0, v_ax1, v_ax2])
                T_rms_norm[v_ax0, v_ax1, v_ax2] = rsqrt[v_ax0, v_ax1] * T_cast_1[v_ax0, v_ax1, v_ax2] * T_cast_2[v_ax2]
        for ax0, ax1, ax2 in T.grid(T.int64(1), n, T.int64(64)):
            with T.sblock("T_cast_2"):
                v_ax0, v_ax1, v_ax2 = T.axis.remap("SSS", [ax0, ax1, ax2])
                T.reads(T_rms_norm[v_ax0, v_ax1, v_ax2])
                T.writes(T_cast[v_ax0, v_ax1, v_ax2])
                T_cast[v_ax0, v_ax1, v_ax2] = T_rms_norm[v_ax0, v_ax1, v_ax2]

    @T.prim_func(private=True, s_tir=True)
    def softmax(add: T.Buffer((T.int64(1), T.int64(4), n, n), "float32"), T_softmax_norm: T.Buffer((T.int64(1), T.int64(4), n, n), "float32")):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        # with T.sblock("root"):
        T_softmax_maxelem = T.sblock_alloc_buffer((T.int64(1), T.int64(4), n))
        T_softmax_exp = T.sblock_alloc_buffer((T.int64(1), T.int64(4), n, n))
        T_softmax_expsum = T.sblock_alloc_buffer((T.int64(1), T.int64(4), n))
        for i0, i1, i2, k in T.grid(T.int64(1), T.int64(4), n, n):
            with T.sblock("T_softmax_maxelem"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(add[v_i0, v_i1, v_i2, v_k])
                T.writes(T_softmax_maxelem[v_i0, v_i1, v_i2])
                with T.init():
                    T_softmax_maxelem[v_i0, v_i1, v_i2] = T.float32(-340282346638528859811704183484516925440.0)
                T_softmax_maxelem[v_i0, v_i1, v_i2] = T.max(T_softmax_maxelem[v_i0, v_i1, v_i2], add[v_i0, v_i1, v_i2, v_k])
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(4), n, n):
            with T.sblock("T_softmax_exp"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(add[v_i0, v_i1, v_i2, v_i3], T_softmax_maxelem[v_i0, v_i1, v_i2])
                T.writes(T_softmax_exp[v_i0, v_i1, v_i2, v_i3])
                T_softmax_exp[v_i0, v_i1, v_i2, v_i3] = T.exp(add[v_i0, v_i1, v_i2, v_i3] - T_softmax_maxelem[v_i0, v_i1, v_i2])
        for i0, i1, i2, k in T.grid(T.int64(1), T.int64(4), n, n):
            with T.sblock("T_softmax_expsum"):
                v_i0, v_i1, v_i2, v_k = T.axis.remap("SSSR", [i0, i1, i2, k])
                T.reads(T_softmax_exp[v_i0, v_i1, v_i2, v_k])
                T.writes(T_softmax_expsum[v_i0, v_i1, v_i2])
                with T.init():
                    T_softmax_expsum[v_i0, v_i1, v_i2] = T.float32(0.0)
                T_softmax_expsum[v_i0, v_i1, v_i2] = T_softmax_expsum[v_i0, v_i1, v_i2] + T_softmax_exp[v_i0, v_i1, v_i2, v_k]
        for i0, i1, i2, i3 in T.grid(T.int64(1), T.int64(4), n, n):
            with T.sblock("T_softmax_norm"):
                v_i0, v_i1, v_i2, v_i3 = T.axis.remap("SSSS", [i0, i1, i2, i3])
                T.reads(T_softmax_exp[v_i0, v_i1, v_i2, v_i3], T_softmax_expsum[v_i0, v_i1, v_i2])
                T.writes(T_softmax_norm[v_i0, v_i1, v_i2, v_i3])
                T.sblock_attr({"axis": 3})
                T_softmax_norm[v_i0, v_i1, v_i2, v_i3] = T_softmax_exp[v_i0, v_i1, v_i2, v_i3] / T_softmax_expsum[v_i0, v_i1, v_i2]

    @T.prim_func(private=True, s_tir=True)
    def take(embedding_weight: T.Buffer((T.int64(128), T.int64(64)), "float32"), reshape: T.Buffer((n,), "int32"), T_take: T.Buffer((n, T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 8, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(n, T.int64(64)):
            with T.sblock("T_take"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(embedding_weight[reshape[v_ax0], v_ax1], reshape[v_ax0])
                T.writes(T_take[v_ax0, v_ax1])
                T_take[v_ax0, v_ax1] = embedding_weight[reshape[v_ax0], v_ax1]

    @T.prim_func(private=True, s_tir=True)
    def transpose(layers_0_query_weight: T.Buffer((T.int64(64), T.int64(64)), "float32"), T_transpose: T.Buffer((T.int64(64), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(64), T.int64(64)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(layers_0_query_weight[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = layers_0_query_weight[v_ax1, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def transpose1(reshape2: T.Buffer((T.int64(1), n, T.int64(4), T.int64(16)), "float32"), T_transpose: T.Buffer((T.int64(1), T.int64(4), n, T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), T.int64(4), n, T.int64(16)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(reshape2[v_ax0, v_ax2, v_ax1, v_ax3])
                T.writes(T_transpose[v_ax0, v_ax1, v_ax2, v_ax3])
                T_transpose[v_ax0, v_ax1, v_ax2, v_ax3] = reshape2[v_ax0, v_ax2, v_ax1, v_ax3]

    @T.prim_func(private=True, s_tir=True)
    def transpose3(matmul4: T.Buffer((T.int64(1), T.int64(4), n, T.int64(16)), "float32"), T_transpose: T.Buffer((T.int64(1), n, T.int64(4), T.int64(16)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1, ax2, ax3 in T.grid(T.int64(1), n, T.int64(4), T.int64(16)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1, v_ax2, v_ax3 = T.axis.remap("SSSS", [ax0, ax1, ax2, ax3])
                T.reads(matmul4[v_ax0, v_ax2, v_ax1, v_ax3])
                T.writes(T_transpose[v_ax0, v_ax1, v_ax2, v_ax3])
                T_transpose[v_ax0, v_ax1, v_ax2, v_ax3] = matmul4[v_ax0, v_ax2, v_ax1, v_ax3]

    @T.prim_func(private=True, s_tir=True)
    def transpose4(layers_0_gate_weight: T.Buffer((T.int64(256), T.int64(64)), "float32"), T_transpose: T.Buffer((T.int64(64), T.int64(256)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(64), T.int64(256)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(layers_0_gate_weight[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = layers_0_gate_weight[v_ax1, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def transpose5(layers_0_down_weight: T.Buffer((T.int64(64), T.int64(256)), "float32"), T_transpose: T.Buffer((T.int64(256), T.int64(64)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(256), T.int64(64)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(layers_0_down_weight[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = layers_0_down_weight[v_ax1, v_ax0]

    @T.prim_func(private=True, s_tir=True)
    def transpose6(head_weight: T.Buffer((T.int64(128), T.int64(64)), "float32"), T_transpose: T.Buffer((T.int64(64), T.int64(128)), "float32")):
        T.func_attr({"op_pattern": 2, "tirx.noalias": True})
        # with T.sblock("root"):
        for ax0, ax1 in T.grid(T.int64(64), T.int64(128)):
            with T.sblock("T_transpose"):
                v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                T.reads(head_weight[v_ax1, v_ax0])
                T.writes(T_transpose[v_ax0, v_ax1])
                T_transpose[v_ax0, v_ax1] = head_weight[v_ax1, v_ax0]

    @R.function
    def forward(tokens: R.Tensor((1, n), dtype="int32"), embedding_weight: R.Tensor((128, 64), dtype="float32"), layers_0_attention_norm_weight: R.Tensor((64,), dtype="float32"), layers_0_query_weight: R.Tensor((64, 64), dtype="float32"), layers_0_key_weight: R.Tensor((64, 64), dtype="float32"), layers_0_value_weight: R.Tensor((64, 64), dtype="float32"), layers_0_out_weight: R.Tensor((64, 64), dtype="float32"), layers_0_mlp_norm_weight: R.Tensor((64,), dtype="float32"), layers_0_gate_weight: R.Tensor((256, 64), dtype="float32"), layers_0_up_weight: R.Tensor((256, 64), dtype="float32"), layers_0_down_weight: R.Tensor((64, 256), dtype="float32"), layers_1_attention_norm_weight: R.Tensor((64,), dtype="float32"), layers_1_query_weight: R.Tensor((64, 64), dtype="float32"), layers_1_key_weight: R.Tensor((64, 64), dtype="float32"), layers_1_value_weight: R.Tensor((64, 64), dtype="float32"), layers_1_out_weight: R.Tensor((64, 64), dtype="float32"), layers_1_mlp_norm_weight: R.Tensor((64,), dtype="float32"), layers_1_gate_weight: R.Tensor((256, 64), dtype="float32"), layers_1_up_weight: R.Tensor((256, 64), dtype="float32"), layers_1_down_weight: R.Tensor((64, 256), dtype="float32"), norm_weight: R.Tensor((64,), dtype="float32"), head_weight: R.Tensor((128, 64), dtype="float32")) -> R.Tensor((1, n, 128), dtype="float32"):
        R.func_attr({"num_input": 1, "relax.force_pure": True, "tir_var_upper_bound": {"n": 2048}})
        cls = Module
        reshape: R.Tensor((n,), dtype="int32") = R.reshape(tokens, R.shape([n]))
        storage: R.Any = R.memory.alloc_storage(R.shape([2097152]), 0, R.str("global"), R.dtype("float32"))
        alloc: R.Tensor((n, 64), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([n, 64]), R.dtype("float32"), 0)
        cls.take(embedding_weight, reshape, alloc)
        R.memory.kill_tensor(reshape)
        reshape1: R.Tensor((1, n, 64), dtype="float32") = R.reshape(alloc, R.shape([1, n, 64]))
        R.memory.kill_tensor(alloc)
        storage1: R.Any = R.memory.alloc_storage(R.shape([16777216]), 0, R.str("global"), R.dtype("float32"))
        alloc1: R.Tensor((1, 1, n, n), dtype="float32") = R.memory.alloc_tensor(storage1, 0, R.shape([1, 1, n, n]), R.dtype("float32"), 0)
        R.memory.kill_storage(storage1)
        cls.fused_full_triu(n, alloc1)
        storage2: R.Any = R.memory.alloc_storage(R.shape([524288]), 0, R.str("global"), R.dtype("float32"))
        alloc2: R.Tensor((1, n, 64), dtype="float32") = R.memory.alloc_tensor(storage2, 0, R.shape([1, n, 64]), R.dtype("float32"), 0)
        cls.rms_norm(reshape1, layers_0_attention_norm_weight, alloc2)
        storage3: R.Any = R.memory.alloc_storage(R.shape([65536]), 0, R.str("global"), R.dtype("float32"))
        alloc3: R.Tensor((64, 64), dtype="float32") = R.memory.alloc_tensor(storage3, 0, R.shape([64, 64]), R.dtype("float32"), 0)
        cls.transpose(layers_0_query_weight, alloc3)
        storage4: R.Any = R.memory.alloc_storage(R.shape([524288]), 0, R.str("global"), R.dtype("float32"))
        alloc4: R.Tensor((1, n, 64), dtype="float32") = R.memory.alloc_tensor(storage4, 0, R.shape([1, n, 64]), R.dtype("float32"), 0)
        cls.matmul(alloc2, alloc3, alloc4)
        R.memory.kill_tensor(alloc3)
        reshape2: R.Tensor((1, n, 4, 16), dtype="float32") = R.reshape(alloc4, R.shape([1, n, 4, 16]))
        R.memory.kill_tensor(alloc4)
        storage5: R.Any = R.memory.alloc_storage(R.shape([2097152]), 0, R.str("global"), R.dtype("float32"))
        alloc5: R.Tensor((1, 4, n, 16), dtype="float32") = R.memory.alloc_tensor(storage5, 0, R.shape([1, 4, n, 16]), R.dtype("float32"), 0)
        cls.transpose1(reshape2, alloc5)
        R.memory.kill_tensor(reshape2)
        alloc6: R.Tensor((64, 64), dtype="float32") = R.memory.alloc_tensor(storage3, 0, R.shape([64, 64]), R.dtype("float32"), 0)
        cls.transpose(layers_0_key_weight, alloc6)
        alloc7: R.Tensor((1, n, 64), dtype="float32") = R.memory.alloc_tensor(storage4, 0, R.shape([1, n, 64]), R.dtype("float32"), 0)
        cls.matmul(alloc2, alloc6, alloc7)
        R.memory.kill_tensor(alloc6)
        reshape3: R.Tensor((1, n, 4, 16), dtype="float32") = R.reshape(alloc7, R.shape([1, n, 4, 16]))
        R.memory.kill_tensor(alloc7)
        storage6: R.Any = R.memory.alloc_storage(R.shape([524288]), 0, R.str("global"), R.dtype("float32"))
        alloc8: R.Tensor((1, 4, 16, n), dtype="float32") = R.memory.alloc_tensor(storage6, 0, R.shape([1, 4, 16, n]), R.dtype("float32"), 0)
        cls.fused_transpose1_transpose2(reshape3, alloc8)
        R.memory.kill_tensor(reshape3)
        alloc9: R.Tensor((64, 64), dtype="float32") = R.memory.alloc_tensor(storage3, 0, R.shape([64, 64]), R.dtype("float32"), 0)
        cls.transpose(layers_0_value_weight, alloc9)
        alloc10: R.Tensor((1, n, 64), dtype="float32") = R.memory.alloc_tensor(storage4, 0, R.shape([1, n, 64]), R.dtype("float32"), 0)
        cls.matmul(alloc2, alloc9, alloc10)
        R.memory.kill_tensor(alloc2)
        R.memory.kill_tensor(alloc9)
        reshape4: R.Tensor((1, n, 4, 16), dtype="float32") = R.reshape(alloc10, R.shape([1, n, 4, 16]))
        R.memory.kill_tensor(alloc10)
        alloc11: R.Tensor((1, 4, n, 16), dtype="float32") = R.memory.alloc_tensor(storage2, 0, R.shape([1, 4, n, 16]), R.dtype("float32"), 0)
        cls.transpose1(reshape4, alloc11)
        R.memory.kill_tensor(reshape4)
        storage7: R.Any = R.memory.alloc_storage(R.shape([67108864]), 0, R.str("global"), R.dtype("float32"))
        alloc12: R.Tensor((1, 4, n, n), dtype="float32") = R.memory.alloc_tensor(storage7, 0, R.shape([1, 4, n, n]), R.dtype("float32"), 0)
        cls.fused_matmul1_divide_add(alloc5, alloc8, alloc1, alloc12)
        R.memory.kill_tensor(alloc5)
        R.memory.kill_tensor(alloc8)
        storage8: R.Any = R.memory.alloc_storage(R.shape([67108864]), 0, R.str("global"), R.dtype("float32"))
        alloc13: R.Tensor((1, 4, n, n), dtype="float32") = R.memory.alloc_tensor(storage8, 0, R.shape([1, 4, n, n]), R.dtype("float32"), 0)
        cls.softmax(alloc12, alloc13)
        R.memory.kill_tensor(alloc12)
        alloc14: R.Tensor((1, 4, n, 16), dtype="float32") = R.memory.alloc_tensor(storage4, 0, R.shape([1, 4, n, 16]), R.dtype("float32"), 0)
        cls.matmul2(alloc13, alloc11, alloc14)
        R.memory.kill_tensor(alloc11)
        R.memory.kill_tensor(alloc13)
        alloc15: R.Tensor((1, n, 4, 16), dtype="float32") = R.memory.alloc_tensor(storage5, 0, R.shape([1, n, 4, 16]), R.dtype("float32"), 0)
        cls.transpose3(alloc14, alloc15)
        R.memory.kill_tensor(alloc14)
        reshape5: R.Tensor((1, n, 64), dtype="float32") = R.reshape(alloc15, R.shape([1, n, 64]))
        R.memory.kill_tensor(alloc15)
        alloc16: R.Tensor((64, 64), dtype="float32") = R.memory.alloc_tensor(storage3, 0, R.shape([64, 64]), R.dtype("float32"), 0)
        cls.transpose(layers_0_out_weight, alloc16)
        alloc17: R.Tensor((1, n, 64), dtype="float32") = R.memory.alloc_tensor(storage6, 0, R.shape([1, n, 64]), R.dtype("float32"), 0)
        cls.fused_matmul_add1(reshape5, alloc16, reshape1, alloc17)
        R.memory.kill_tensor(reshape1)
        R.memory.kill_tensor(reshape5)
        R.memory.kill_tensor(alloc16)
        alloc18: R.Tensor((1, n, 64), dtype="float32") = R.memory.alloc_tensor(storage2, 0, R.shape([1, n, 64]), R.dtype("float32"), 0)
        cls.rms_norm(alloc17, layers_0_mlp_norm_weight, alloc18)
        alloc19: R.Tensor((64, 256), dtype="float32") = R.memory.alloc_tensor(storage4, 0, R.shape([64, 256]), R.dtype("float32"), 0)
        cls.transpose4(layers_0_gate_weight, alloc19)
        alloc20: R.Tensor((64, 256), dtype="float32") = R.memory.alloc_tensor(storage5, 0, R.shape([64, 256]), R.dtype("float32"), 0)
        cls.transpose4(layers_0_up_weight, alloc20)
        alloc21: R.Tensor((1, n, 256), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([1, n, 256]), R.dtype("float32"), 0)
        cls.matmul3(alloc18, alloc20, alloc21)
        R.memory.kill_tensor(alloc20)
        alloc22: R.Tensor((1, n, 256), dtype="float32") = R.memory.alloc_tensor(storage5, 0, R.shape([1, n, 256]), R.dtype("float32"), 0)
        cls.fused_matmul3_silu_multiply(alloc18, alloc19, alloc21, alloc22)
        R.memory.kill_tensor(alloc18)
        R.memory.kill_tensor(alloc19)
        R.memory.kill_tensor(alloc21)
        alloc23: R.Tensor((256, 64), dtype="float32") = R.memory.alloc_tensor(storage2, 0, R.shape([256, 64]), R.dtype("float32"), 0)
        cls.transpose5(layers_0_down_weight, alloc23)
        alloc24: R.Tensor((1, n, 64), dtype="float32") = R.memory.alloc_tensor(storage4, 0, R.shape([1, n, 64]), R.dtype("float32"), 0)
        cls.fused_matmul4_add1(alloc22, alloc23, alloc17, alloc24)
        R.memory.kill_tensor(alloc17)
        R.memory.kill_tensor(alloc22)
        R.memory.kill_tensor(alloc23)
        alloc25: R.Tensor((1, n, 64), dtype="float32") = R.memory.alloc_tensor(storage2, 0, R.shape([1, n, 64]), R.dtype("float32"), 0)
        cls.rms_norm(alloc24, layers_1_attention_norm_weight, alloc25)
        alloc26: R.Tensor((64, 64), dtype="float32") = R.memory.alloc_tensor(storage3, 0, R.shape([64, 64]), R.dtype("float32"), 0)
        cls.transpose(layers_1_query_weight, alloc26)
        alloc27: R.Tensor((1, n, 64), dtype="float32") = R.memory.alloc_tensor(storage6, 0, R.shape([1, n, 64]), R.dtype("float32"), 0)
        cls.matmul(alloc25, alloc26, alloc27)
        R.memory.kill_tensor(alloc26)
        reshape6: R.Tensor((1, n, 4, 16), dtype="float32") = R.reshape(alloc27, R.shape([1, n, 4, 16]))
        R.memory.kill_tensor(alloc27)
        alloc28: R.Tensor((1, 4, n, 16), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([1, 4, n, 16]), R.dtype("float32"), 0)
        cls.transpose1(reshape6, alloc28)
        R.memory.kill_tensor(reshape6)
        alloc29: R.Tensor((64, 64), dtype="float32") = R.memory.alloc_tensor(storage3, 0, R.shape([64, 64]), R.dtype("float32"), 0)
        cls.transpose(layers_1_key_weight, alloc29)
        alloc30: R.Tensor((1, n, 64), dtype="float32") = R.memory.alloc_tensor(storage6, 0, R.shape([1, n, 64]), R.dtype("float32"), 0)
        cls.matmul(alloc25, alloc29, alloc30)
        R.memory.kill_tensor(alloc29)
        reshape7: R.Tensor((1, n, 4, 16), dtype="float32") = R.reshape(alloc30, R.shape([1, n, 4, 16]))
        R.memory.kill_tensor(alloc30)
        alloc31: R.Tensor((1, 4, 16, n), dtype="float32") = R.memory.alloc_tensor(storage5, 0, R.shape([1, 4, 16, n]), R.dtype("float32"), 0)
        cls.fused_transpose1_transpose2(reshape7, alloc31)
        R.memory.kill_tensor(reshape7)
        alloc32: R.Tensor((64, 64), dtype="float32") = R.memory.alloc_tensor(storage3, 0, R.shape([64, 64]), R.dtype("float32"), 0)
        cls.transpose(layers_1_value_weight, alloc32)
        alloc33: R.Tensor((1, n, 64), dtype="float32") = R.memory.alloc_tensor(storage6, 0, R.shape([1, n, 64]), R.dtype("float32"), 0)
        cls.matmul(alloc25, alloc32, alloc33)
        R.memory.kill_tensor(alloc25)
        R.memory.kill_tensor(alloc32)
        reshape8: R.Tensor((1, n, 4, 16), dtype="float32") = R.reshape(alloc33, R.shape([1, n, 4, 16]))
        R.memory.kill_tensor(alloc33)
        alloc34: R.Tensor((1, 4, n, 16), dtype="float32") = R.memory.alloc_tensor(storage2, 0, R.shape([1, 4, n, 16]), R.dtype("float32"), 0)
        cls.transpose1(reshape8, alloc34)
        R.memory.kill_tensor(reshape8)
        alloc35: R.Tensor((1, 4, n, n), dtype="float32") = R.memory.alloc_tensor(storage7, 0, R.shape([1, 4, n, n]), R.dtype("float32"), 0)
        R.memory.kill_storage(storage7)
        cls.fused_matmul1_divide_add(alloc28, alloc31, alloc1, alloc35)
        R.memory.kill_tensor(alloc1)
        R.memory.kill_tensor(alloc28)
        R.memory.kill_tensor(alloc31)
        alloc36: R.Tensor((1, 4, n, n), dtype="float32") = R.memory.alloc_tensor(storage8, 0, R.shape([1, 4, n, n]), R.dtype("float32"), 0)
        R.memory.kill_storage(storage8)
        cls.softmax(alloc35, alloc36)
        R.memory.kill_tensor(alloc35)
        alloc37: R.Tensor((1, 4, n, 16), dtype="float32") = R.memory.alloc_tensor(storage6, 0, R.shape([1, 4, n, 16]), R.dtype("float32"), 0)
        cls.matmul2(alloc36, alloc34, alloc37)
        R.memory.kill_tensor(alloc34)
        R.memory.kill_tensor(alloc36)
        alloc38: R.Tensor((1, n, 4, 16), dtype="float32") = R.memory.alloc_tensor(storage2, 0, R.shape([1, n, 4, 16]), R.dtype("float32"), 0)
        cls.transpose3(alloc37, alloc38)
        R.memory.kill_tensor(alloc37)
        reshape9: R.Tensor((1, n, 64), dtype="float32") = R.reshape(alloc38, R.shape([1, n, 64]))
        R.memory.kill_tensor(alloc38)
        alloc39: R.Tensor((64, 64), dtype="float32") = R.memory.alloc_tensor(storage3, 0, R.shape([64, 64]), R.dtype("float32"), 0)
        cls.transpose(layers_1_out_weight, alloc39)
        alloc40: R.Tensor((1, n, 64), dtype="float32") = R.memory.alloc_tensor(storage6, 0, R.shape([1, n, 64]), R.dtype("float32"), 0)
        R.memory.kill_storage(storage6)
        cls.fused_matmul_add1(reshape9, alloc39, alloc24, alloc40)
        R.memory.kill_tensor(alloc24)
        R.memory.kill_tensor(reshape9)
        R.memory.kill_tensor(alloc39)
        alloc41: R.Tensor((1, n, 64), dtype="float32") = R.memory.alloc_tensor(storage2, 0, R.shape([1, n, 64]), R.dtype("float32"), 0)
        cls.rms_norm(alloc40, layers_1_mlp_norm_weight, alloc41)
        alloc42: R.Tensor((64, 256), dtype="float32") = R.memory.alloc_tensor(storage4, 0, R.shape([64, 256]), R.dtype("float32"), 0)
        cls.transpose4(layers_1_gate_weight, alloc42)
        alloc43: R.Tensor((64, 256), dtype="float32") = R.memory.alloc_tensor(storage3, 0, R.shape([64, 256]), R.dtype("float32"), 0)
        cls.transpose4(layers_1_up_weight, alloc43)
        alloc44: R.Tensor((1, n, 256), dtype="float32") = R.memory.alloc_tensor(storage, 0, R.shape([1, n, 256]), R.dtype("float32"), 0)
        R.memory.kill_storage(storage)
        cls.matmul3(alloc41, alloc43, alloc44)
        R.memory.kill_tensor(alloc43)
        alloc45: R.Tensor((1, n, 256), dtype="float32") = R.memory.alloc_tensor(storage5, 0, R.shape([1, n, 256]), R.dtype("float32"), 0)
        R.memory.kill_storage(storage5)
        cls.fused_matmul3_silu_multiply(alloc41, alloc42, alloc44, alloc45)
        R.memory.kill_tensor(alloc41)
        R.memory.kill_tensor(alloc42)
        R.memory.kill_tensor(alloc44)
        alloc46: R.Tensor((256, 64), dtype="float32") = R.memory.alloc_tensor(storage3, 0, R.shape([256, 64]), R.dtype("float32"), 0)
        cls.transpose5(layers_1_down_weight, alloc46)
        alloc47: R.Tensor((1, n, 64), dtype="float32") = R.memory.alloc_tensor(storage2, 0, R.shape([1, n, 64]), R.dtype("float32"), 0)
        R.memory.kill_storage(storage2)
        cls.fused_matmul4_add1(alloc45, alloc46, alloc40, alloc47)
        R.memory.kill_tensor(alloc40)
        R.memory.kill_tensor(alloc45)
        R.memory.kill_tensor(alloc46)
        alloc48: R.Tensor((1, n, 64), dtype="float32") = R.memory.alloc_tensor(storage4, 0, R.shape([1, n, 64]), R.dtype("float32"), 0)
        R.memory.kill_storage(storage4)
        cls.rms_norm(alloc47, norm_weight, alloc48)
        R.memory.kill_tensor(alloc47)
        alloc49: R.Tensor((64, 128), dtype="float32") = R.memory.alloc_tensor(storage3, 0, R.shape([64, 128]), R.dtype("float32"), 0)
        R.memory.kill_storage(storage3)
        cls.transpose6(head_weight, alloc49)
        storage_1: R.Any = R.memory.alloc_storage(R.shape([4 * n * 128]), 0, R.str("global"), R.dtype("uint8"))
        alloc50: R.Tensor((1, n, 128), dtype="float32") = R.memory.alloc_tensor(storage_1, 0, R.shape([1, n, 128]), R.dtype("float32"), 0)
        R.memory.kill_storage(storage_1)
        cls.matmul5(alloc48, alloc49, alloc50)
        R.memory.kill_tensor(alloc48)
        R.memory.kill_tensor(alloc49)
        return alloc50
