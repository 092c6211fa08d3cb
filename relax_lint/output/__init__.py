"""One renderer per format over one result model."""
