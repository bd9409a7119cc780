#!/bin/sh
# Prints those of Debian's packages in packages.txt (package, and a program or file of it) that this
# machine lacks.
PATH="$PATH:/usr/sbin:/sbin"
while read -r package found; do
  case $found in
    /*) [ -e "$found" ] ;;
    *) command -v "$found" >/dev/null ;;
  esac || echo "$package"
done <"${0%/*}/packages.txt"
