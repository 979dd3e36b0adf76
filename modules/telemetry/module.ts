/** What a gateway does, in numbers and traces: metrics for Prometheus, figures of each minute, spans of OpenTelemetry. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';

export const telemetry: Module<CliContext> = {
  name: 'telemetry',
  summary:
    'What a gateway does, in numbers and traces: metrics for Prometheus, figures of each minute, spans of OpenTelemetry.',
  runtime: {
    metrics: async () => new (await import('./runtime/metrics.ts')).CountedMetrics(),
    tracing: async () => (await import('./runtime/tracing.ts')).openTracing(),
  },
};
