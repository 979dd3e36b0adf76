/** Checks data against a schema of `schemas/` for which the program itself has no validator. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnySchema } from 'ajv/dist/2020.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { ROOT } from './root.ts';

/** The mismatches, one line each; empty if everything matches. */
export type Validate = (data: unknown) => readonly string[];

/** @param name as in `schemas/<name>.schema.json` */
export function schemaValidator(name: string): Validate {
  const folder = join(ROOT, 'schemas');
  // Code that is not optimised takes half of the time, because little is validated.
  const code = { optimize: false };
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true, discriminator: true, code });
  const files = readdirSync(folder).filter((file) => file.endsWith('.schema.json'));
  const schemas = new Map(
    files.map((file) => [file, JSON.parse(readFileSync(join(folder, file), 'utf8')) as AnySchema]),
  );
  // The content for editors.
  ajv.addKeyword('x-payload');
  for (const schema of schemas.values()) ajv.addSchema(schema);
  const { $id } = schemas.get(`${name}.schema.json`) as { readonly $id: string };
  const validate = ajv.getSchema($id);
  if (validate === undefined) throw new Error(`no schema ${name}`);
  return (data) => {
    if (validate(data) === true) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
  };
}
