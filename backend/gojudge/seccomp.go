package gojudge

// programUsers is the first id of the users that programs run as.
const programUsers = 1_500_000_000

// seccompFile is the path at which go-judge looks for a filter of system calls, if it was built with the tag
// "seccomp". Otherwise it has no filter.
const seccompFile = "seccomp.yaml"

// seccompPolicy denies programs the system calls that only go-judge itself needs, with EPERM. System calls
// that neither needs are denied to both; see confine.
const seccompPolicy = `default_action: allow
syscalls:
  - action: errno
    names:
      - mount
      - umount2
      - pivot_root
      - chroot
      - setns
      - unshare
`
