/** Decides whether a binding needs a chat id: an incoming webhook belongs to one chat, a bot does not. */
import type { RequestPlan, TargetBinding, TargetPlan, ValueRef } from '../../schemas/generated/types.ts';

/** @param inThread whether the delivery names a thread, which some services accept instead of a chat */
export function needsChat(plan: TargetPlan, binding: TargetBinding, inThread: boolean): boolean {
  const variant = plan.variants.find(({ name }) => name === binding.variant);
  if (variant === undefined) return plan.address.some(({ name }) => name === 'chat_id');
  const forms = variant.requests.filter(({ thread }) => thread === null || thread === inThread);
  return !forms.some((request) => !namesChat(request));
}

function namesChat(request: RequestPlan): boolean {
  if (request.chat_id !== null) return true;
  return valueRefs(request).some(({ of, name, optional }) => of === 'address' && name === 'chat_id' && !optional);
}

/** All value references in a request plan. */
function valueRefs(node: unknown): ValueRef[] {
  if (typeof node !== 'object' || node === null) return [];
  if ('kind' in node && node.kind === 'value') return [node as ValueRef];
  return Object.values(node).flatMap(valueRefs);
}
