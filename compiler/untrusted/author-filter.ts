/** Whether a route's filters let through only what people wrote who are named, or who may write to the owner's account. */
import type { FieldReview } from '../shapes/field-review.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { isUntrusted } from '../shapes/leaf-class.ts';
import type { WrittenLeaf } from '../shapes/read-leaf.ts';
import { listedValues } from './listed-values.ts';
import type { Filters, IsEnough } from './requires.ts';
import { requires } from './requires.ts';

/**
 * Each form of the events is checked by itself: a filter may name one author for issues and another one for comments.
 *
 * @param set the forms that the filters leave
 * @param path of the text
 */
export function isByTrustedAuthor(filters: Filters | undefined, set: FormSet, path: readonly string[]): boolean {
  if (filters === undefined) return false;
  const found = set.find(path);
  return set.forms.every(({ event }, index) => {
    if (found[index]?.kind === 'absent') return true;
    const review = set.shape.review.find(event, path);
    return review !== null && (!isUntrusted(review.class) || isRequired(filters, set.pick([index]), review));
  });
}

/** @param form a set of one */
function isRequired(filters: Filters, form: FormSet, { author = [], sender = [] }: FieldReview): boolean {
  if (author.length === 0 && sender.length === 0) return false;
  const { review } = form.shape;
  const bySender = sender.length > 0 && isBySender(filters, form, sender) ? review.sender : [];
  const fields = new Set([...author, ...bySender]);
  return requires(filters, form, (leaf, negated) => {
    const field = pathOf(leaf);
    return field !== null && fields.has(field) && isAllowList(leaf, negated, review.trustedValues(field));
  });
}

/** null: of a header, whose name may look like a path. */
const pathOf = ({ field }: WrittenLeaf): string | null => (field.in === 'header' ? null : field.path.join('.'));

/** The user who caused the event wrote the text: by its form, or because the filters leave only such actions. */
function isBySender(filters: Filters, form: FormSet, sender: readonly string[]): boolean {
  const { shape, forms } = form;
  const [{ event, action } = { event: '', action: null }] = forms;
  if (sender.includes(event) || sender.includes(`${event}.${action}`)) return true;
  const field = shape.action?.join('.') ?? shape.review.action;
  const isSuchAction: IsEnough = (leaf, negated) => {
    const values = pathOf(leaf) === field ? listedValues(leaf, negated) : null;
    return values !== null && values.length > 0 && values.every((each) => sender.includes(`${event}.${each}`));
  };
  return action === null && field !== null && requires(filters, form, isSuchAction);
}

/** @param trusted values that show an author to be trusted; null: the field names people, and a list says who is */
function isAllowList(leaf: WrittenLeaf, negated: boolean, trusted: readonly string[] | null): boolean {
  if (leaf.operator === 'in_file') return !negated && trusted === null;
  const values = listedValues(leaf, negated) ?? [];
  const isGood = (value: unknown): boolean =>
    trusted === null
      ? typeof value === 'number' || (typeof value === 'string' && value !== '')
      : trusted.includes(String(value));
  return values.length > 0 && values.every(isGood);
}
