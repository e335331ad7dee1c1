package gojudge

// programUsers is the first of the numbers of users that programs run as.
const programUsers = 1_500_000_000

// seccompFile is where go-judge looks for a filter of system calls, if it was built with
// the tag "seccomp". Otherwise it has none.
const seccompFile = "seccomp.yaml"

// seccompPolicy keeps programs from parts of the kernel that none of them needs, and that
// it had most of its mistakes in. They get EPERM.
const seccompPolicy = `default_action: allow
syscalls:
  - action: errno
    names:
      - ptrace
      - process_vm_readv
      - process_vm_writev
      - bpf
      - perf_event_open
      - userfaultfd
      - add_key
      - request_key
      - keyctl
      - mount
      - umount2
      - pivot_root
      - chroot
      - setns
      - unshare
      - kexec_load
      - init_module
      - finit_module
      - delete_module
      - quotactl
      - swapon
      - swapoff
      - reboot
`
