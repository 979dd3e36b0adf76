/** Reads the JSON Schema files that a config's own sources name under `shape:`. */
import { dirname, resolve } from 'node:path';
import type { Problem } from '../../../../compiler/diagnostics/diagnostic.ts';
import type { Files } from '../../../../compiler/source/files.ts';
import { displayPath, readText } from '../../../../compiler/source/files.ts';
import type { Report } from '../../../../compiler/source/find-place.ts';
import { parseYaml } from '../../../../compiler/source/parse-yaml.ts';
import type { CatalogItem } from '../../../../compiler/stages/catalog.ts';
import { isPlainMap } from '../../../../compiler/text/plain-data.ts';
import type { SourceFile } from '../../../../schemas/generated/types.ts';
import { NO_REVIEW } from '../shapes/field-review.ts';
import { singleValue } from '../shapes/form-set.ts';
import { createSchemaReader } from '../shapes/from-json-schema.ts';
import type { NodeId, NodeTable, Shape, ShapeVariant } from '../shapes/shape.ts';
import { ANY_EVENT, createNodeTable } from '../shapes/shape.ts';

interface OwnShapesInput {
  readonly files: Files;
  readonly cwd: string;
}

/** Returns shapes by canonical source name. Invalid files are reported, and their events are omitted. */
export function readOwnShapes(
  sources: ReadonlyMap<string, CatalogItem<SourceFile>>,
  input: OwnShapesInput,
  report: Report,
): ReadonlyMap<string, Shape> {
  const found = [...sources].flatMap(([name, item]): readonly (readonly [string, Shape])[] => {
    const shape = readOwnShape(name, item, input, report);
    return shape === null ? [] : [[name, shape]];
  });
  return new Map(found);
}

/** The files named by `shape`: one for all events, or one per event. */
function shapeFiles(shape: NonNullable<SourceFile['shape']>): readonly (readonly [event: string, file: string])[] {
  return typeof shape === 'string' ? [[ANY_EVENT, shape]] : Object.entries(shape);
}

function readOwnShape(
  name: string,
  { value, written }: CatalogItem<SourceFile>,
  input: OwnShapesInput,
  report: Report,
): Shape | null {
  const { shape } = value;
  if (shape === undefined || written === null) return null;
  const table = createNodeTable();
  let complete = true;
  const variants = shapeFiles(shape).flatMap(([event, file]): readonly ShapeVariant[] => {
    const path = [...written.base, 'shape', ...(typeof shape === 'string' ? [] : [event])];
    const [at = '', fragment = ''] = file.split('#');
    const folder = dirname(written.tree.place(path).file.source.path);
    const document = readDocument(resolve(folder, at), input, report);
    if (typeof document === 'string') {
      const problem: Problem = { rule: 'unreadable-file', path, at: 'value', message: `\`${at}\` ${document}` };
      report.addProblems([problem], written.tree);
      return [];
    }
    if (document === null) return [];
    // `source learn` writes it, because a field may not have been sent yet.
    complete &&= !isPlainMap(document) || document.complete !== false;
    return readForms(document, fragment, table).map((root) => formOf(event, root, table));
  });
  if (variants.length === 0) return null;
  const graph = table;
  return { source: name, quality: 'good', complete, from: [], action: ACTION, graph, variants, review: NO_REVIEW };
}

/** The usual field for the action of an event. */
const ACTION = ['action'];

const formOf = (event: string, root: NodeId, table: NodeTable): ShapeVariant => ({
  event,
  root,
  action: singleValue(table, root, ACTION),
});

/** Each member of a union is a separate form, because filters can distinguish them. */
function readForms(document: unknown, fragment: string, table: NodeTable): readonly NodeId[] {
  const reader = createSchemaReader(document, table);
  const schema = fragment === '' ? document : { $ref: `#${fragment}` };
  const members = isPlainMap(schema) ? (schema.oneOf ?? schema.anyOf) : undefined;
  const isUnion =
    Array.isArray(members) && isPlainMap(schema) && schema.properties === undefined && schema.allOf === undefined;
  return isUnion ? members.map((member) => reader.read(member)) : [reader.read(schema)];
}

/** Returns the document, an error message, or null if the problem has already been reported. */
function readDocument(path: string, { files, cwd }: OwnShapesInput, report: Report): unknown {
  const read = readText(files, path);
  if (!read.ok) return read.message;
  // JSON is YAML.
  const { file, findings } = parseYaml({ path, name: displayPath(path, cwd), text: read.text });
  report.add(findings);
  if (file === null || findings.length > 0) return null;
  return isPlainMap(file.value) ? file.value : 'is not a JSON Schema: an object is expected';
}
