"""What tests need of a machine: small disks, sshd, sudo, a kernel that refuses io_uring."""
