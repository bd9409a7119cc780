"""Sampled sessions → average active sessions and waits.

Decisions of this room:

- A sample of the sessions is weighted by the time it stands for: counted one by one, samples would
  weigh a slow server too little, because it answers less often.
- The queue for a processor is the sampled sessions on CPU minus the time on CPU that the kernel
  counted. The kernel's own count of waiting consists mostly of sessions that are being woken, which
  are idle to the server.
"""
