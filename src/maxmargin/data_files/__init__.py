"""Files of data: what people have on disk, read strictly and written exactly."""
