package remotetest

import (
	"context"
	"io"
	"strings"

	execution "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// service is the Remote Execution API.
type service struct {
	*Server
	execution.UnimplementedCapabilitiesServer
	execution.UnimplementedActionCacheServer
	execution.UnimplementedContentAddressableStorageServer
	execution.UnimplementedExecutionServer
	bytestream.UnimplementedByteStreamServer
}

var (
	packer, _   = zstd.NewWriter(nil)
	unpacker, _ = zstd.NewReader(nil)
)

func (s *service) GetCapabilities(context.Context, *execution.GetCapabilitiesRequest) (*execution.ServerCapabilities, error) {
	c := &execution.CacheCapabilities{DigestFunctions: []execution.DigestFunction_Value{execution.DigestFunction_SHA256}}
	if s.now().Compress {
		c.SupportedCompressors = []execution.Compressor_Value{execution.Compressor_ZSTD}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return &execution.ServerCapabilities{CacheCapabilities: c, ExecutionCapabilities: &execution.ExecutionCapabilities{
		DigestFunction: execution.DigestFunction_SHA256, ExecEnabled: s.engine != nil}}, nil
}

func (s *service) GetActionResult(_ context.Context, ask *execution.GetActionResultRequest) (*execution.ActionResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, ok := s.entries[ask.ActionDigest.Hash]
	if !ok {
		return nil, status.Error(codes.NotFound, "no such entry")
	}
	e := new(execution.ActionResult)
	return e, proto.Unmarshal(content, e)
}

func (s *service) UpdateActionResult(_ context.Context, ask *execution.UpdateActionResultRequest) (*execution.ActionResult, error) {
	s.SetEntry(ask.ActionDigest.Hash, ask.ActionResult)
	return ask.ActionResult, nil
}

func (s *service) FindMissingBlobs(_ context.Context, ask *execution.FindMissingBlobsRequest) (*execution.FindMissingBlobsResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	answer := new(execution.FindMissingBlobsResponse)
	for _, d := range ask.BlobDigests {
		if _, ok := s.blobs[d.Hash]; !ok {
			answer.MissingBlobDigests = append(answer.MissingBlobDigests, d)
		}
	}
	return answer, nil
}

func (s *service) BatchReadBlobs(_ context.Context, ask *execution.BatchReadBlobsRequest) (*execution.BatchReadBlobsResponse, error) {
	answer := new(execution.BatchReadBlobsResponse)
	for _, d := range ask.Digests {
		content, ok := s.blob(d.Hash)
		one := &execution.BatchReadBlobsResponse_Response{Digest: d, Data: content}
		switch {
		case !ok:
			one.Status = status.New(codes.NotFound, "no such blob").Proto()
		case len(ask.AcceptableCompressors) > 1:
			one.Data, one.Compressor = packer.EncodeAll(content, nil), execution.Compressor_ZSTD
		}
		answer.Responses = append(answer.Responses, one)
	}
	return answer, nil
}

func (s *service) BatchUpdateBlobs(_ context.Context, ask *execution.BatchUpdateBlobsRequest) (*execution.BatchUpdateBlobsResponse, error) {
	answer := new(execution.BatchUpdateBlobsResponse)
	for _, r := range ask.Requests {
		content := r.Data
		var err error
		if r.Compressor == execution.Compressor_ZSTD {
			content, err = unpacker.DecodeAll(content, nil)
		}
		if err == nil {
			err = s.put(r.Digest.Hash, content)
		}
		answer.Responses = append(answer.Responses, &execution.BatchUpdateBlobsResponse_Response{Digest: r.Digest, Status: status.Convert(err).Proto()})
	}
	return answer, nil
}

const part = 64 << 10

func (s *service) Read(ask *bytestream.ReadRequest, stream bytestream.ByteStream_ReadServer) error {
	words := strings.Split(ask.ResourceName, "/")
	content, ok := s.blob(words[len(words)-2])
	if !ok {
		return status.Error(codes.NotFound, "no such blob")
	}
	content = content[ask.ReadOffset:]
	if strings.Contains(ask.ResourceName, "compressed-blobs/zstd/") {
		content = packer.EncodeAll(content, nil)
	}
	breaks := s.truncates(ask.ResourceName)
	for end := len(content); len(content) > 0; {
		if breaks && len(content) <= end/2 {
			return status.Error(codes.Unavailable, "broken off")
		}
		n := min(part, len(content))
		s.throttle(stream.Context(), n)
		if err := stream.Send(&bytestream.ReadResponse{Data: content[:n]}); err != nil {
			return err
		}
		content = content[n:]
	}
	return nil
}

func (s *service) Write(stream bytestream.ByteStream_WriteServer) error {
	var name string
	for {
		message, err := stream.Recv()
		if err == io.EOF {
			return status.Error(codes.InvalidArgument, "the stream ended early")
		}
		if err != nil {
			return err
		}
		if message.ResourceName != "" {
			name = message.ResourceName
		}
		s.mu.Lock()
		if int64(len(s.parts[name])) != message.WriteOffset {
			s.mu.Unlock()
			return status.Error(codes.InvalidArgument, "wrong offset")
		}
		s.parts[name] = append(s.parts[name], message.Data...)
		content := s.parts[name]
		s.mu.Unlock()
		if !message.FinishWrite && len(content) > 1<<20 && s.truncates(name) {
			return status.Error(codes.Unavailable, "broken off")
		}
		if message.FinishWrite {
			words := strings.Split(name, "/")
			if err := s.put(words[len(words)-2], content); err != nil {
				return err
			}
			return stream.SendAndClose(&bytestream.WriteResponse{CommittedSize: int64(len(content))})
		}
	}
}

func (s *service) QueryWriteStatus(_ context.Context, ask *bytestream.QueryWriteStatusRequest) (*bytestream.QueryWriteStatusResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &bytestream.QueryWriteStatusResponse{CommittedSize: int64(len(s.parts[ask.ResourceName]))}, nil
}
