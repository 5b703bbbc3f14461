"""What the hardware wants: cores, devices, vectors, compiled programs. Nothing above knows why."""
