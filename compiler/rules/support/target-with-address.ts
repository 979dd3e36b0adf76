/** `deliver: telegram:-1001234`: a target and an address in one text. */
import type { TargetPlan } from '../../../schemas/generated/types.ts';
import type { DeliveryConfig, WrittenTarget } from '../../config/deliveries.ts';
import { targetNamed } from '../../config/deliveries.ts';
import type { TableContent } from '../../config/table-content.ts';
import type { Problem } from '../../diagnostics/problem.ts';
import { flowText } from '../../text/flow-text.ts';

/** Returns the correct spelling; null if the text before the colon is not a target. */
export function targetWithAddress(
  { name, index }: WrittenTarget,
  { deliver, deliver_extra }: DeliveryConfig,
  { targets, target_names: names }: TableContent,
): Pick<Problem, 'message' | 'fix' | 'fixAt'> | null {
  const [, target = '', address = ''] = /^([\w-]+):\s*(\S+)$/.exec(name) ?? [];
  const plan = targets[targetNamed(names, target) ?? ''];
  const keys = plan === undefined ? null : readAddress(plan, address);
  if (keys === null) return null;
  const isList = typeof deliver === 'object';
  const text = flowText(isList ? deliver.map((each, place) => (place === index ? target : each)) : target);
  const extra = `deliver_extra: ${flowText(isList ? { [target]: keys } : keys)}`;
  return {
    message: `\`deliver\` names targets without an address: write \`deliver: ${text}\` and \`${extra}\``,
    ...(deliver_extra === undefined ? { fix: { kind: 'flow', text, andKey: extra }, fixAt: ['deliver'] } : {}),
  };
}

/** Returns the address as keys of `deliver_extra`; null if the target has no such address. */
function readAddress({ address: fields }: TargetPlan, text: string): Readonly<Record<string, string>> | null {
  const names = fields.map(({ name }) => name);
  const [, repo, number] = /^([\w.-]+\/[\w.-]+)#(\d+)$/.exec(text) ?? [];
  if (names.includes('pr_number'))
    return repo === undefined || number === undefined ? null : { repo, pr_number: number };
  if (!names.includes('chat_id')) return null;
  const [, chat, thread] = names.includes('thread') ? (/^(-?\d+):(\d+)$/.exec(text) ?? []) : [];
  return chat === undefined || thread === undefined ? { chat_id: text } : { chat_id: chat, thread_id: thread };
}
