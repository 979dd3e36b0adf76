/** Shipped shapes, and the forms of one of their events. */
import type { FormSet } from '../../modules/payloads/compiler/shapes/form-set.ts';
import { createFormSet } from '../../modules/payloads/compiler/shapes/form-set.ts';
import type { Shape } from '../../modules/payloads/compiler/shapes/shape.ts';
import { readShippedShape } from '../../modules/payloads/compiler/shapes/shape-file.ts';

export function shippedShape(source: string): Shape {
  const shape = readShippedShape(source);
  if (shape === null) throw new Error(`no shape of ${source}`);
  return shape;
}

export function shippedForms(source: string, event: string): FormSet {
  const all = createFormSet(shippedShape(source));
  return all.pick(all.forms.flatMap((form, index) => (form.event === event ? [index] : [])));
}
