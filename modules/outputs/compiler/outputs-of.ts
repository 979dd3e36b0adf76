/** The outputs of a route or job whose target is known, with the fields of that target. */
import { contentOf } from '../../../base/target-content.ts';
import { targetNamed } from '../../../compiler/config/deliveries.ts';
import type { JobView, RouteView } from '../../../compiler/views/views.ts';
import type { ContentField, OutputConfig } from '../../../schemas/generated/types.ts';

export interface KnownOutput {
  readonly name: string;
  readonly config: OutputConfig;
  readonly fields: readonly ContentField[];
}

export function outputsOf({ config, scope }: Pick<RouteView | JobView, 'config' | 'scope'>): readonly KnownOutput[] {
  const { targets, target_names } = scope.table;
  return Object.entries(config.outputs ?? {}).flatMap(([name, output]): KnownOutput[] => {
    const plan = targets[targetNamed(target_names, output.deliver) ?? ''];
    return plan === undefined
      ? []
      : [{ name, config: output, fields: contentOf<ContentField>(plan) as ContentField[] }];
  });
}
