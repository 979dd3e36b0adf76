// What docs/operations.md shows for `--import`: registers OpenTelemetry's SDK, which sends what ends at once.
import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';

const spanProcessors = [new SimpleSpanProcessor(new OTLPTraceExporter())];
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors }));
