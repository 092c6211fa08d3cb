"""Where modules come from: files, their units, and the way through the gate and TVM's parser."""
