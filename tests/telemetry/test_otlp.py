"""Spans and metrics sent by OTLP, as a collector on loopback gets them.

Source: issue "Every door, from one table of verbs" (OpenTelemetry).
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from opentelemetry import metrics, trace
from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2, metrics_service_pb2_grpc
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc

from memoir_engine import CollectorUnusable, Memory

WORD = "quillwort"
TEXT = f"The lease of the office ends with three months' notice, says {WORD}. " * 3


class Collector(trace_service_pb2_grpc.TraceServiceServicer, metrics_service_pb2_grpc.MetricsServiceServicer):
    def __init__(self) -> None:
        self.got: list[Any] = []

    def Export(self, request: Any, context: Any) -> Any:
        self.got.append(request)
        of_spans = isinstance(request, trace_service_pb2.ExportTraceServiceRequest)
        kind = trace_service_pb2 if of_spans else metrics_service_pb2
        return kind.ExportTraceServiceResponse() if of_spans else kind.ExportMetricsServiceResponse()


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    made, server = Collector(), grpc.server(ThreadPoolExecutor(2))
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(made, server)
    metrics_service_pb2_grpc.add_MetricsServiceServicer_to_server(made, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    yield made
    server.stop(None).wait()


def test_a_collector_gets_spans_and_metrics_without_a_text(collector: Collector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MEMOIR_OTLP", "true")
    of_the_program = trace.get_tracer_provider(), metrics.get_meter_provider()  # another test's Chroma may have set one
    with Memory(model="offline", data_dir=tmp_path) as memory:
        run = memory.ingest_text(TEXT, name=f"{WORD}.txt").raise_for_error().run_id
    told = "".join(map(str, collector.got))
    for said in ("create_memory ingest_text", "gen_ai.client.operation.duration", "chat offline", run, '"memoir"'):
        assert said in told, said
    assert WORD not in told
    assert (trace.get_tracer_provider(), metrics.get_meter_provider()) == of_the_program


def test_nothing_is_sent_though_a_collector_is_named_unless_the_setting_says_so(collector: Collector, tmp_path: Path):
    with Memory(model="offline", data_dir=tmp_path, telemetry=True) as memory:
        memory.ingest_text(TEXT).raise_for_error()
    assert not collector.got


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({}, "OTEL_EXPORTER_OTLP_ENDPOINT is not set"),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
            "only grpc is spoken here",
        ),
    ],
    ids=["no collector", "another protocol"],
)
def test_a_collector_that_cannot_be_told_is_refused_at_the_opening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], says: str
):
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_ENDPOINT", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(CollectorUnusable, match=says):
        Memory(model="offline", data_dir=tmp_path, otlp=True)
