"""Spans and metrics of runs and model calls, read by OpenTelemetry's own exporters in memory.

Source: issue "Every door, from one table of verbs" (OpenTelemetry).
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from machine import REPOSITORY
from memoir_engine import MemoirError, Memory

SECRET = "quillwort"
TEXT = f"The lease of the office ends with three months' notice, says {SECRET}. " * 3


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return exporter


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> InMemoryMetricReader:
    made = InMemoryMetricReader()
    monkeypatch.setattr(metrics, "get_meter", MeterProvider([made]).get_meter)
    return made


def spans(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    return {span.name: span for span in exporter.get_finished_spans()}


def test_a_run_is_a_span_that_leads_back_to_the_ledger_with_its_calls_below_it(
    exported: InMemorySpanExporter, reader: InMemoryMetricReader, tmp_path: Path
):
    with Memory(model="offline", data_dir=tmp_path, telemetry=True) as memory:
        memory.acting_as(SECRET).ingest_text(TEXT, name=f"{SECRET}.txt").raise_for_error()
        asked = memory.query(f"What does {SECRET} say of the notice?")
        calls = {call.id: call for call in memory.runs.calls(asked.run_id)}
        made = [span for span in exported.get_finished_spans() if span.attributes["memoir.run.id"] == asked.run_id]
    run = next(span for span in made if span.name == "invoke_workflow query")
    below = [span for span in made if span is not run]
    assert {span.attributes["memoir.call.id"] for span in below} == calls.keys()
    for span in below:
        call = calls[span.attributes["memoir.call.id"]]
        assert span.parent.span_id == run.context.span_id
        assert span.name == f"chat {call.model}"
        used = [span.attributes[f"gen_ai.usage.{side}_tokens"] for side in ("input", "output")]
        assert used == [call.tokens_prompt, call.tokens_completion]
        assert run.start_time - 1_000_000_000 <= span.start_time <= span.end_time
    assert (run.attributes["gen_ai.operation.name"], run.attributes["memoir.run.status"]) == ("invoke_workflow", "done")
    assert "create_memory ingest_text" in spans(exported)
    assert SECRET not in "".join(span.to_json() for span in exported.get_finished_spans())
    told = reader.get_metrics_data().to_json()
    assert all(name in told for name in ("gen_ai.client.operation.duration", "gen_ai.client.token.usage"))
    assert SECRET not in told


def test_operations_of_memory_are_spans_though_they_ask_nobody(exported: InMemorySpanExporter, tmp_path: Path):
    with Memory(model="offline", data_dir=tmp_path, telemetry=True) as memory:
        memory.remember([{"role": "user", "content": "I live in Bern."}], "ana")
        memory.recall("Where does she live?", "ana")
        memory.search("Bern")
        with pytest.raises(MemoirError):
            memory.search("Bern", sources=[99])
    found = spans(exported)
    assert found["upsert_memory remember"].attributes["gen_ai.operation.name"] == "upsert_memory"
    assert found["search_memory recall"].attributes["memoir.verb"] == "recall"
    assert found["search_memory search"].attributes.get("error.type") == "E206"


def test_without_the_setting_nothing_is_told_and_the_library_is_not_loaded(exported: InMemorySpanExporter, tmp_path: Path):
    with Memory(model="offline", data_dir=tmp_path) as memory:
        memory.ingest_text(TEXT, name="lease.txt").raise_for_error()
    assert exported.get_finished_spans() == ()
    code = (
        "import sys; from memoir_engine import Memory\n"
        "with Memory(model='offline', db_path=':memory:') as memory: memory.overview()\n"
        "print('memoir_engine.telemetry.spans' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "False"


def test_the_python_of_the_page_runs_as_it_stands(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    page = (REPOSITORY / "docs" / "telemetry.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    printed = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert '"name": "create_memory ingest_text"' in printed
    assert '"memoir.run.id"' in printed
