\set number random(1, 100 * :scale)
VACUUM t_:number;
