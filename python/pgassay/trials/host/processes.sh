# Every process of a host, for processes.py: lines PATH:LINE, and NAME:VALUE of the host itself.
# Only what every Linux has: a POSIX shell, coreutils, grep, getconf.
LC_ALL=C
export LC_ALL
exec 2>/dev/null
echo "ticks:$(getconf CLK_TCK)"
echo "page_bytes:$(getconf PAGESIZE)"
# What started this shell: pgassay itself, or its session over ssh.
echo "reader:$PPID"
echo "boot:$(head -n 1 /proc/sys/kernel/random/boot_id)"
echo "uptime:$(head -n 1 /proc/uptime)"
echo "cpu:$(head -n 1 /proc/stat)"
# Processes that have ended, and counters of other accounts, are passed over.
grep -s '' /proc/[0-9]*/stat /proc/[0-9]*/io /proc/diskstats
exit 0
