/** A mistake that explains a schema error better than the error itself does. */
import type { SchemaError } from '../schema-error.ts';
import type { ShapePlace, ShapeProblem } from '../shape-problem.ts';

/** @returns null: the error has another cause. */
export type Slip = (place: ShapePlace, error: SchemaError) => ShapeProblem | null;
