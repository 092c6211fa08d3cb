"""What TVM and its Relax VM do: versions, allocators. Imports `symbolic` and what stands below it."""
