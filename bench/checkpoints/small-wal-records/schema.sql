CREATE TABLE nothing (id bigint);
