/** Shipped shapes, and the forms of one of their events. */
import { readShippedShape } from '../../compiler/node/shipped-catalog.ts';
import type { FormSet } from '../../modules/payloads/compiler/shapes/form-set.ts';
import { createFormSet } from '../../modules/payloads/compiler/shapes/form-set.ts';
import type { Shape } from '../../modules/payloads/compiler/shapes/shape.ts';
import { readShapeFile } from '../../modules/payloads/compiler/shapes/shape-file.ts';

export function shippedShape(source: string): Shape {
  const text = readShippedShape(source);
  if (text === null) throw new Error(`no shape of ${source}`);
  return readShapeFile(text);
}

export function shippedForms(source: string, event: string): FormSet {
  const all = createFormSet(shippedShape(source));
  return all.pick(all.forms.flatMap((form, index) => (form.event === event ? [index] : [])));
}
