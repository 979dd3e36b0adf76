/** Reads `outputs`: each is a delivery of its own, whose address stands beside its target. */
import type { OutputConfig } from '../../schemas/generated/types.ts';
import type { NodePath } from '../diagnostics/problem.ts';
import type { DeliveryConfig, Scalar } from './deliveries.ts';

/** The keys of an output that are no address. */
export const OWN_KEYS = ['deliver', 'allow', 'max', 'approve'] as const satisfies readonly (keyof OutputConfig)[];

/** An output as `deliver` and `deliver_extra`, for everything that reads those. */
export function deliveryOf(output: OutputConfig): Required<DeliveryConfig> {
  const { deliver, allow, max, approve, ...address } = output;
  return { deliver, deliver_extra: address as Readonly<Record<string, Scalar>> };
}

/** Where a path of that delivery is written, relative to the route or job. */
export function outputPath(name: string, [key, ...rest]: NodePath): NodePath {
  if (key === undefined || key === 'deliver_extra') return ['outputs', name, ...rest];
  return ['outputs', name, key];
}
