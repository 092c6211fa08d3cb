"""The names that a TVMScript text may use: the allow-list of the gate, reviewed by hand.

Taken from what TVM 0.26 and 0.27 offer under `R`, `T` and `I`, less everything that runs Python, reads files
or starts a compiler while it is parsed (`macro`, `jit`, `rewriter`, `call_kernel`, registration functions).
A name that is missing here does not exist for the text: it is never looked up in TVM.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# Every spelling of a TIR element type: `T.int64`, `T.float32x4`, `T.float8_e4m3fn`.
TIR_DTYPE = re.compile(r"(bfloat16|bf16|float\d+(_e\dm\d[a-z0-9]*?)?|u?int\d+|[fiu]\d+)(x\d+)?")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


RELAX_NAMES = _words("""
    Any Callable DTensor ExternFunc Object Prim Shape ShapeExpr Tensor Tuple TupleGetItem abs acos acosh add
    arange argmax argmin argsort asin asinh assert_op astype atan atan2 atanh bitwise_and
    bitwise_not bitwise_or bitwise_xor broadcast_to bucketize call_builtin_with_ctx call_dps_packed
    call_inplace_packed call_packed call_pure_packed call_py_func call_tir call_tir_inplace
    call_tir_with_grad ceil clip collapse_sum_like collapse_sum_to concat const cos cosh cpu cuda
    cumprod cumsum dataflow dequantize device device_mesh divide dtype dynamic dynamic_strided_slice einsum
    emit emit_match_cast emit_te emit_with_ty emit_with_type equal erf ewise_fma exp expand_dims ext_dev
    eye eye_like flatten flip floor floor_divide floor_mod full full_like func_attr function
    gather_elements gather_nd greater greater_equal hamming_window hexagon hint_on_device index_put
    index_tensor invoke_closure invoke_pure_closure isfinite isinf isnan layout_transform left_shift
    less less_equal linear log log_add_exp logical_and logical_not logical_or logical_xor
    make_closure match_cast matmul max maximum mean median meshgrid metal min minimum mod
    multinomial_from_uniform multiply negative nonzero not_equal null_value one_hot ones ones_like
    opencl outer output permute_dims power prim_value print prod quantize repeat reshape
    reverse_sequence right_shift rocm round rsqrt scatter_elements scatter_nd shape shape_of
    shape_to_tensor sigmoid sign sin sinh size slice_scatter sort split sqrt square squeeze stack
    std stop_lift_params str strided_slice subtract sum take tan tanh tensor_to_shape tile
    to_vdevice topk tril triu trunc tuple unique variance vpi vulkan webgpu where wrap_param zeros
    zeros_like
""")

RELAX_NAMESPACES: Mapping[str, frozenset[str]] = {
    "builtin": _words("alloc_tensor stop_lift_params"),
    "ccl": _words("allgather allreduce broadcast_from_worker0 scatter_from_worker0"),
    "dist": _words("""
        DTensor DeviceMesh Placement annotate_sharding call_tir call_tir_local_view const
        device_mesh redistribute redistribute_replica_to_shard
    """),
    "grad": _words("""
        avg_pool2d_backward end_checkpoint max_pool2d_backward nll_loss_backward no_grad
        start_checkpoint take_backward
    """),
    "image": _words("affine_grid grid_sample resize2d resize3d"),
    "memory": _words("""
        alloc_storage alloc_tensor ensure_zero_offset kill_storage kill_tensor view
    """),
    "nn": _words("""
        adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d attention attention_bias
        attention_var_len avg_pool1d avg_pool2d avg_pool3d batch_flatten batch_norm conv1d
        conv1d_transpose conv2d conv2d_transpose conv3d conv3d_transpose cross_entropy_with_logits
        dropout gelu gelu_tanh group_norm instance_norm layer_norm leakyrelu log_softmax max_pool1d
        max_pool2d max_pool3d nll_loss pad pixel_shuffle prelu relu relu6 rms_norm selu silu softmax
        softplus
    """),
    "vision": _words("""
        all_class_non_max_suppression get_valid_counts multibox_transform_loc non_max_suppression
        roi_align roi_pool
    """),
    "vm": _words("alloc_storage alloc_tensor call_tir_dyn kill_object"),
}

TIR_NAMES = _words("""
    Add And Assert Bind BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Break Broadcast Buffer Call
    CallEffectKind Cast CommReducer ComposeLayout Continue Div DtypeConstructor EQ Else ExecScope
    FloatImm FloorDiv FloorMod GE GT If IntImm Iter IterVar LE LShift LT Layout Let LetAnnotation
    LocalVectorAnnotation Max Min Mod Mul NE Not Optional Or ProducerLoad Ptr R RShift Ramp Range
    Reduce Return S SMEMPool ScopeIdDef Select Shuffle StringImm Sub TMEMPool
    TVMBackendAllocWorkspace TVMBackendFreeWorkspace TensorMap Then TileLayout Tuple Var While abs
    acos acosh address_of alloc_buffer alloc_cast_frag alloc_local alloc_scalar alloc_shared
    alloc_tcgen05_ldst_frag anylist_getitem anylist_resetitem anylist_setitem_call_cpacked
    anylist_setitem_call_packed arg asin asinh assume atan atan2 atanh attr axis bind bitwise_and
    bitwise_not bitwise_or bitwise_xor block_name_suffix_context bool boolean break_loop broadcast
    buffer buffer_decl buffer_store buffer_var call_cpacked call_cpacked_lowered call_extern
    call_ffi_kernel call_intrin call_llvm_intrin call_llvm_pure_intrin call_packed
    call_packed_lowered call_pure_extern cast ceil ceildiv cluster cluster_id clz comm_reducer
    constexpr continue_loop cooperative_tensor_fill cooperative_tensor_load
    cooperative_tensor_multiply_accumulate cooperative_tensor_store copysign cos cosh cta cta_id
    cta_id_in_cluster cta_id_in_pair cuda decl_buffer decl_scalar device_entry dp4a dynamic
    end_profile_intrinsic env_thread erf evaluate exp exp10 exp2 fabs filter floor floordiv floormod
    fma fmod func_attr func_name func_ret get_active_lane_mask grid handle handle_add_byte_offset
    hint hypot if_then_else ignore_loop_partition index_map infinity init isfinite isinf
    isnan isnullptr iter_var lane_id launch_thread ldexp let likely llvm_lookup_intrinsic_id
    local_scalar log log10 log1p log2 lookup_param masked_load masked_store match_buffer max
    max_value meta_var metal min min_value nearbyint nextafter nki nvshmem parallel popcount pow
    prim_func print_buffer ptr ptr_byte_offset ptx ptx_legacy q_multiply_shift
    q_multiply_shift_per_axis ramp reads reinterpret round rsqrt s_tir sblock sblock_alloc_buffer
    sblock_attr scalar_wrapper scope_id selector serial shared_scalar shift_left shift_right sigmoid
    sin sinh smem sqrt start_profile_intrinsic static_assert tan tanh target tensormap_encode_tiled
    thread thread_binding thread_id thread_id_in_wg thread_return tmem trunc truncdiv truncmod
    tvm_access_ptr tvm_bmma_sync tvm_call_cpacked tvm_call_cpacked_lowered tvm_call_packed
    tvm_call_packed_lowered tvm_fill_fragment tvm_global_barrier_kinit tvm_kernel_replace_point
    tvm_load_matrix_sync tvm_mma_sync tvm_stack_alloca tvm_stack_make_array tvm_stack_make_shape
    tvm_storage_sync tvm_store_matrix_sync tvm_struct_get tvm_struct_set tvm_thread_allreduce
    tvm_thread_invariant tvm_throw_last_error tvm_tuple tvm_warp_activemask tvm_warp_shuffle
    tvm_warp_shuffle_down tvm_warp_shuffle_up tvm_warp_shuffle_xor type_annotation undef unroll var
    vectorcombine vectorhigh vectorized vectorlow void vscale warp warp_id warp_id_in_wg warpgroup
    warpgroup_id webgpu wg wg_reg_tile where writes
""")

IR_NAMES = _words("""
    GenericConst Range StringImm StringType dummy_global_info dynamic ir_module lookup_vdevice meta_var
    module_attrs module_global_infos pyfunc vdevice
""")

# Groups of intrinsics that hang below `T`; their members are functions that build calls.
TIR_NAMESPACES = _words("axis cuda metal nki nvshmem ptx ptx_legacy s_tir webgpu")

# Functions of tvm.topi, for `R.emit_te(topi.add, x, y)`: they build tensor expressions and nothing else.
TOPI_NAMES = _words("""
    abs acos acosh add all any arange argmax argmin argsort asin asinh atan atan2 atanh bitwise_and
    bitwise_not bitwise_or bitwise_xor broadcast_to cast ceil clip collapse_sum concatenate cos cosh cumprod
    cumsum divide dynamic_strided_slice einsum equal erf exp expand_dims expand_like eye flip floor
    floor_divide floor_mod full full_like gather gather_nd greater greater_equal identity isfinite isinf isnan
    layout_transform left_shift less less_equal log log10 log2 logical_and logical_not logical_or logical_xor
    matmul max maximum meshgrid min minimum mod multiply negative not_equal one_hot power prod repeat reshape
    reverse_sequence right_shift round rsqrt scatter_elements scatter_nd sigmoid sign sin sinh sort split sqrt
    squeeze stack strided_slice subtract sum take tan tanh tensordot tile topk transpose trilu trunc where
""")
TOPI_NN_NAMES = _words("""
    batch_matmul batch_norm conv1d conv2d conv2d_nchw conv2d_nhwc dense flatten group_norm instance_norm
    layer_norm leaky_relu log_softmax matmul pad pool2d prelu relu rms_norm softmax
""")

# tvm.tir (up to 0.23) and tvm.tirx: expression builders.
TIR_MODULE_NAMES = _words("""
    Add And Broadcast Cast Div EQ FloatImm FloorDiv FloorMod GE GT IndexMap IntImm LE LT Max Min Mod Mul NE
    Not Or Ramp Select Shuffle SizeVar StringImm Sub Var abs all any bitwise_and bitwise_not bitwise_or
    bitwise_xor ceil ceildiv const cos cosh decl_buffer div erf exp exp2 floor floordiv floormod fmod
    if_then_else indexdiv indexmod infinity log log10 log2 max max_value min min_value nearbyint pow power
    reinterpret round rsqrt shift_left shift_right sigmoid sin sinh sqrt sum tan tanh trunc truncdiv truncmod
""")

# tvm.relax: node and type constructors. `relax.op.x` is governed by RELAX_NAMES and RELAX_NAMESPACES.
RELAX_MODULE_NAMES = _words("""
    AnyType Call Constant DataTypeImm ExternFunc FuncType GlobalVar ObjectStructInfo ObjectType PrimStructInfo
    PrimType PrimValue ShapeExpr ShapeStructInfo ShapeType StringImm TensorStructInfo TensorType Tuple
    TupleGetItem TupleStructInfo TupleType VDevice Var call_dps_packed call_pure_packed call_tir
    call_tir_inplace call_tir_with_grad const extern prim_value
""")

# tvm itself and its small submodules, as dotted names.
TVM_NAMES = _words("""
    cpu cuda device ext_dev hexagon metal opencl rocm vpi vulkan webgpu DataType
    runtime.const runtime.cpu runtime.cuda runtime.device runtime.tensor runtime.DataType nd.array
    ir.FloatImm ir.GenericConst ir.GlobalVar ir.IntImm ir.Op.get ir.PointerType ir.PrimType ir.Range
    ir.StringImm ir.VDevice target.Target
    te.all te.any te.compute te.const te.exp te.if_then_else te.log te.max te.min te.placeholder
    te.reduce_axis te.size_var te.sqrt te.sum te.tanh te.var
""")

# The codes in the shape-heap calls of lowered modules, which TVM's own tests spell by name.
SHAPE_CODE_NAMES = _words("""
    MakeShapeCode.LOAD_SHAPE MakeShapeCode.USE_IMM MatchShapeCode.ASSERT_EQUAL_TO_IMM
    MatchShapeCode.ASSERT_EQUAL_TO_LOAD MatchShapeCode.NO_OP MatchShapeCode.STORE_TO_HEAP
""")

NUMPY_NAMES = _words("""
    abs arange array asarray bool_ ceil cos dtype e exp eye finfo float16 float32 float64 floor full full_like
    iinfo identity inf int16 int32 int64 int8 linspace log nan newaxis ones ones_like pi power prod sin sqrt
    tan tanh tile transpose uint16 uint32 uint64 uint8 zeros zeros_like
    random.rand random.randn random.randint random.uniform random.normal random.random
""")

MATH_NAMES = _words("""
    ceil cos e exp fabs floor fmod gcd inf isfinite isinf isnan lcm log log10 log2 log1p nan pi pow prod sin
    sqrt tan tanh tau trunc
""")

BUILTIN_NAMES = _words("range float int len min max abs bool sum list tuple enumerate")

# Attributes of values (tensors, buffers, expressions, types). Nothing on this list writes, reads or runs.
VALUE_ATTRIBUTES = _words("""
    access_ptr allocated_addr astype axis base bits body buffer byte_offset ceil cta data device_id dom dtype
    elem_offset eps extent field fields functions get_global_var index indices item lanes local main max min
    name name_hint ndim numpy offset_factor op partition permute ptr_to real reshape same_as scope shape
    size storage_scope strides struct_info struct_info_ sub tile tiny transpose ty type_code unsqueeze value
    values var
    vdevice view vload vstore x y z
""")

# The same attributes by what they are read from: the interpreter asks the value's type, never its spelling.
# Names of classes of TVM; a release that lacks one loses nothing.
NODE_TYPES: Mapping[str, tuple[str, ...]] = {
    "expression": (
        "tvm.ir.Expr",
        "tvm.ir.BaseExpr",
        "tvm.ir.PrimExpr",
        "tvm.ir.RelaxExpr",
        "tvm.relax.Expr",
        "tvm.tirx.Buffer",
        "tvm.tirx.BufferRegion",
        "tvm.tirx.TensorRegion",
        "tvm.tirx.stmt.TensorRegion",
        "tvm.tirx.script.builder.ir.TensorRegion",
        "tvm.tirx.script.builder.ir.scalar_wrapper",
        "tvm.tirx.expr.ExprOp",
        "tvm.tirx.generic.ExprOp",
        "tvm.te.tensor.TensorSlice",
    ),
    "type": ("tvm.ir.Type", "tvm.relax.StructInfo"),
    "data_type": ("tvm.DataType", "tvm_ffi.dtype", "tvm_ffi.DataType", "tvm_ffi.core.DataType"),
    "range": ("tvm.ir.Range",),
    "axis": ("tvm.tirx.IterVar", "tvm.tirx.expr.IterVar"),
    "tensor": ("tvm.te.Tensor", "tvm.te.tensor.Tensor"),
    "operation": ("tvm.te.tensor.Operation",),
    "module": ("tvm.ir.IRModule", "tvm.ir.module.IRModule"),
    "constant": ("tvm.runtime.Tensor", "tvm.runtime.NDArray"),
    "device": ("tvm.relax.VDevice", "tvm.ir.VDevice", "tvm.ir.global_info.VDevice"),
    "code": (
        "tvm.relax.testing.runtime_builtin.MakeShapeCode",
        "tvm.relax.testing.runtime_builtin.MatchShapeCode",
    ),
}
NODE_ATTRIBUTES: Mapping[str, frozenset[str]] = {
    "expression": _words("""
        access_ptr allocated_addr astype base body buffer byte_offset data dom dtype elem_offset extent field
        fields index indices lanes local max min name name_hint ndim offset_factor op partition permute ptr_to
        same_as scope shape storage_scope strides struct_info struct_info_ sub tile ty unsqueeze value values
        var vdevice view vload vstore x y z
    """),
    "type": _words("""
        bits dtype elem_offset fields lanes ndim offset_factor same_as shape storage_scope strides struct_info
        values vdevice
    """),
    "data_type": _words("bits lanes type_code"),
    "range": _words("extent min same_as"),
    "axis": _words("dom dtype name same_as var"),
    "tensor": _words("axis dtype name ndim op same_as shape"),
    "operation": _words("axis body name same_as"),
    "module": _words("functions get_global_var"),
    "constant": _words("dtype numpy shape"),
    "device": _words("device_id"),
    "code": _words("name value"),
}
ARRAY_ATTRIBUTES: Mapping[str, frozenset[str]] = {
    "array": _words("astype dtype item max min ndim real reshape shape size transpose"),
    "array_info": _words("bits dtype eps max min name ndim shape tiny"),
}

# Nodes that stand for a function: a call of one is a node.
CALLABLE_TYPES = (
    "tvm.ir.Expr",
    "tvm.ir.BaseExpr",
    "tvm.ir.GlobalVar",
    "tvm.relax.Expr",
    "tvm.te.Tensor",
    "tvm.te.tensor.Tensor",
)
INDEXED_TYPES = (
    "tvm.ir.Expr",
    "tvm.ir.BaseExpr",
    "tvm.relax.Expr",
    "tvm.ir.Array",
    "tvm.ir.Map",
    "tvm_ffi.Array",
    "tvm_ffi.Map",
    "tvm_ffi.List",
    "tvm_ffi.Dict",
    "tvm.te.Tensor",
    "tvm.te.tensor.Tensor",
    "tvm.te.tensor.TensorSlice",
    "tvm.tirx.Buffer",
    "tvm.tirx.script.builder.ir.scalar_wrapper",
    "tvm.tirx.script.builder.ir.LetAnnotation",
    "tvm.tirx.script.builder.ir.DtypeConstructor",
    "tvm.tirx.script.parser.entry.BufferProxy",
    "tvm.tirx.script.parser.entry.PtrProxy",
)
ITERATED_TYPES = (
    "tvm.ir.Expr",
    "tvm.ir.BaseExpr",
    "tvm.relax.Expr",
    "tvm.ir.Array",
    "tvm.ir.Map",
    "tvm_ffi.Array",
    "tvm_ffi.List",
    "tvm_ffi.Map",
    "tvm_ffi.Dict",
    "tvm_ffi.Shape",
    "tvm.te.Tensor",
    "tvm.te.tensor.Tensor",
    "tvm.script.ir_builder.ir.meta_var",
)
# Objects of TVM that run something: no text gets hold of one.
REFUSED_TYPES = (
    "tvm_ffi.Function",
    "tvm_ffi.core.Function",
    "tvm_ffi.Module",
    "tvm_ffi.module.Module",
    "tvm.runtime.Module",
    "tvm.runtime.PackedFunc",
    "tvm.runtime.Executable",
    "tvm.ir.EnvFunc",
    "tvm.ir.base.EnvFunc",
    "tvm.ir.transform.Pass",
    "tvm.script.parser.core.parser.ScriptMacro",
    "tvm.script.parser.core.parser.Parser",
)
