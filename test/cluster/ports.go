package cluster

import (
	"fmt"
	"net"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// reservedPort is a port of the loopback interface that no other process gets,
// also while the component that serves on it is down. The socket is bound but
// never listens; the component shares the port through SO_REUSEPORT.
type reservedPort struct {
	number int
	socket int
}

func reservePort() (*reservedPort, error) {
	// Holding the lock keeps the socket out of a process that is forked before it
	// is marked close-on-exec.
	syscall.ForkLock.RLock()
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(socket)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, fmt.Errorf("reserve a port: %w", err)
	}

	number, err := bindAnyPort(socket)
	if err != nil {
		_ = unix.Close(socket)
		return nil, fmt.Errorf("reserve a port: %w", err)
	}
	return &reservedPort{number: number, socket: socket}, nil
}

func bindAnyPort(socket int) (int, error) {
	if err := unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1); err != nil {
		return 0, err
	}
	if err := unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	name, err := unix.Getsockname(socket)
	if err != nil {
		return 0, err
	}
	inet, ok := name.(*unix.SockaddrInet4)
	if !ok {
		return 0, fmt.Errorf("unexpected socket address %T", name)
	}
	return inet.Port, nil
}

func (p *reservedPort) address() string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(p.number))
}

func (p *reservedPort) release() error {
	return unix.Close(p.socket)
}
