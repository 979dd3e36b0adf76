/** Metrics for Prometheus, traffic per minute for charts, and OpenTelemetry traces. */
import type { CliContext } from '../../cli/base/context.ts';
import type { Module } from '../../cli/base/module.ts';

export const telemetry: Module<CliContext> = {
  name: 'telemetry',
  runtime: {
    metrics: async () => new (await import('./runtime/metrics.ts')).CountedMetrics(),
    tracing: async () => (await import('./runtime/tracing.ts')).openTracing(),
  },
};
