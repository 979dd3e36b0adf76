/** A common mistake, recognised in a schema error, with a better explanation. */
import type { SchemaError } from '../schema-error.ts';
import type { ShapePlace, ShapeProblem } from '../shape-problem.ts';

/** Returns null if the error has another cause. */
export type Slip = (place: ShapePlace, error: SchemaError) => ShapeProblem | null;
