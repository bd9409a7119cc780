-- The number is a part of the table's name, so load.protocol must be "simple".
\set number random(1, 100 * :scale)
VACUUM t_:number;
