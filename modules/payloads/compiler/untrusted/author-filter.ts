/** Decides whether a route's filters accept only text by listed authors, or by people with write access to the owner's account. */
import type { FieldReview } from '../shapes/field-review.ts';
import type { FormSet } from '../shapes/form-set.ts';
import { isUntrusted } from '../shapes/leaf-class.ts';
import { listedValues } from '../shapes/match-leaf.ts';
import type { WrittenLeaf } from '../shapes/read-leaf.ts';
import type { Filters, IsEnough } from './requires.ts';
import { requires } from './requires.ts';

/**
 * Checks each event form separately: a filter may list one author for issues and another for comments.
 *
 * @param set the forms that pass the filters
 * @param path path of the text
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

/** @param form a set with one form */
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

/** Null for headers, whose names may look like paths. */
const pathOf = ({ field }: WrittenLeaf): string | null => (field.in === 'header' ? null : field.path.join('.'));

/** Whether the user who caused the event wrote the text: by the event form, or because only such actions pass the filters. */
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

/** @param trusted values that identify a trusted author; null if the field contains names, so that any list of names is enough */
function isAllowList(leaf: WrittenLeaf, negated: boolean, trusted: readonly string[] | null): boolean {
  if (leaf.operator === 'in_file') return !negated && trusted === null;
  const values = listedValues(leaf, negated) ?? [];
  const isGood = (value: unknown): boolean =>
    trusted === null
      ? typeof value === 'number' || (typeof value === 'string' && value !== '')
      : trusted.includes(String(value));
  return values.length > 0 && values.every(isGood);
}
