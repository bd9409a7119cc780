"""Where a run takes place: what environment.json has of servers, data and host."""
