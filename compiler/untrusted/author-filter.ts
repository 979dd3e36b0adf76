/** Whether a route's filters let through only what people wrote who are named, or who may write to the owner's account. */
import type { FilterConfig } from '../../schemas/generated/types.ts';
import type { FieldReview } from '../shapes/field-review.ts';
import type { FormSet } from '../shapes/form-set.ts';
import type { WrittenLeaf } from '../shapes/read-leaf.ts';
import { membersOf, readLeaf } from '../shapes/read-leaf.ts';

/** @param set the forms that the filters leave @param text what was decided about the text */
export function isByTrustedAuthor(
  filters: FilterConfig | readonly FilterConfig[] | undefined,
  set: FormSet,
  text: FieldReview,
): boolean {
  const fields = new Set([...(text.author ?? []), ...(isBySender(set, text) ? set.shape.review.sender : [])]);
  if (fields.size === 0 || filters === undefined) return false;
  const isTrusted = (leaf: WrittenLeaf): boolean =>
    fields.has(leaf.field.path.join('.')) &&
    isAllowList(leaf, set.shape.review.trustedValues(leaf.field.path.join('.')));
  return membersOf(filters, []).some(({ config }) => requires(config, isTrusted));
}

/** Who caused the event wrote the text: in each of its forms, or somebody else's text comes with theirs. */
function isBySender({ forms }: FormSet, { sender = [] }: FieldReview): boolean {
  return forms.every(({ event, action }) => sender.includes(event) || sender.includes(`${event}.${action}`));
}

/** Whether it holds only where such a condition holds. What is negated lets everybody else through. */
function requires(filter: FilterConfig, isTrusted: (leaf: WrittenLeaf) => boolean): boolean {
  const each = (list: FilterConfig | readonly FilterConfig[]): readonly boolean[] =>
    membersOf(list, []).map(({ config }) => requires(config, isTrusted));
  if (filter.all !== undefined) return each(filter.all).includes(true);
  if (filter.any !== undefined) {
    const members = each(filter.any);
    return members.length > 0 && !members.includes(false);
  }
  const leaf = filter.not === undefined ? readLeaf(filter, []) : null;
  return leaf !== null && isTrusted(leaf);
}

/** @param trusted values that show an author to be trusted; null: the field names people, and a list says who is */
function isAllowList({ operator, value }: WrittenLeaf, trusted: readonly string[] | null): boolean {
  if (operator === 'in_file') return trusted === null;
  const values: readonly unknown[] =
    operator === 'equals' ? [value] : operator === 'in' && Array.isArray(value) ? value : [];
  if (trusted !== null) return values.length > 0 && values.every((each) => trusted.includes(String(each)));
  return (
    values.length > 0 && values.every((each) => typeof each === 'number' || (typeof each === 'string' && each !== ''))
  );
}
