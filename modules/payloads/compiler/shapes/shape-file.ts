/**
 * Reads and prints the files of `catalog/shapes/`, one node per line. Nodes are parsed on demand, because a config uses
 * few of them.
 */

import { join } from 'node:path';
import { assetFolder } from '../../../../base/files.ts';
import { nodeFiles } from '../../../../compiler/node/node-files.ts';
import { readText } from '../../../../compiler/source/files.ts';
import { NO_REVIEW, readReview } from './field-review.ts';
import { singleValue } from './form-set.ts';
import type {
  NodeId,
  ScalarValue,
  Shape,
  ShapeGraph,
  ShapeNode,
  ShapeOrigin,
  ShapeProperty,
  ShapeQuality,
  ShapeType,
} from './shape.ts';

/** Reads a file of `catalog/shapes/`. Nodes are parsed on demand, because a config uses few of them. */
export interface ShapeFile {
  readonly generated: string;
  readonly source: string;
  readonly quality: ShapeQuality;
  readonly complete?: true;
  readonly from: readonly ShapeOrigin[];
  /** Dotted path of the field that distinguishes the forms of an event, or null. */
  readonly action: string | null;
  /** By event: numbers of the root nodes of its forms, separated by blanks. */
  readonly events: Readonly<Record<string, string>>;
  /** One line per node. The first line is `*`. */
  readonly nodes: readonly string[];
}

/** The node for any value, which is line 0. */
export const ANY_NODE: NodeId = 0;

/** The contents of the shipped files about one sender's payloads. */
interface ShapeTexts {
  /** The file of `catalog/shapes/`. */
  readonly shape: string;
  /** The file of `catalog/writers/`; null if the fields have not been reviewed. */
  readonly review: string | null;
}

/** Parses the texts of shipped files, without validation. */
export function readShapeFile({ shape: text, review }: ShapeTexts): Shape {
  const file = JSON.parse(text) as ShapeFile;
  const graph = lazyGraph(file.nodes);
  const action = file.action?.split('.') ?? null;
  const variants = Object.entries(file.events).flatMap(([event, roots]) =>
    roots.split(' ').map((id) => {
      const root = Number.parseInt(id, 36);
      return {
        event,
        root,
        // Also read on demand: few of a sender's hundreds of forms are used.
        get action() {
          return action === null ? null : singleValue(graph, root, action);
        },
      };
    }),
  );
  const { source, quality, complete = false, from } = file;
  const writers = review === null ? NO_REVIEW : readReview(review);
  return { source, quality, complete, from, action, graph, variants, review: writers };
}

function lazyGraph(lines: readonly string[]): ShapeGraph {
  const nodes: ShapeNode[] = [];
  return {
    node(id) {
      const known = nodes[id];
      if (known !== undefined) return known;
      const line = lines[id];
      if (line === undefined) throw new RangeError(`the shape has no node ${id}`);
      const node = readNode(line, ANY_NODE);
      nodes[id] = node;
      return node;
    },
  };
}

/*
 * Parses and prints the text form of nodes in `catalog/shapes/`, one node per line. A line consists of, in this order:
 *
 *     types    `s` string, `i` integer, `n` number, `b` boolean, `z` null; `*` alone is any value
 *     =a,b     the only values that a string, number or boolean may have
 *     ~format  the format of its strings
 *     !class   the class of a leaf, see leaf-classes.ts
 *     {…}      an object: `name:id` separated by blanks, `name?:id` if the property is optional;
 *              followed by `*` if it is open, and by an id for the type of further properties
 *     [id]     an array of this type
 *
 * An id is the base-36 number of a line. Special characters are percent-encoded in names and values.
 */

const LETTERS = {
  string: 's',
  integer: 'i',
  number: 'n',
  boolean: 'b',
  null: 'z',
} as const satisfies Partial<Record<ShapeType, string>>;

type LetterType = keyof typeof LETTERS;
const LETTER_TYPES = Object.keys(LETTERS) as readonly LetterType[];
const TYPES = new Map<string, LetterType>(LETTER_TYPES.map((type) => [LETTERS[type], type]));

const LINE =
  /^(?<types>\*|[sinbz]*)(?:=(?<values>[^~!{[]*))?(?:~(?<format>[^!{[]+))?(?:!(?<leafClass>[^{[]+))?(?:\{(?<properties>[^}]*)\}(?:(?<open>\*)(?<rest>[0-9a-z]*))?)?(?:\[(?<items>[0-9a-z]+)\])?$/;

/** @param any number of the node for any value @throws SyntaxError if the line is invalid */
export function readNode(line: string, any: NodeId): ShapeNode {
  const parts = LINE.exec(line)?.groups;
  if (parts === undefined) throw new SyntaxError(`not a node: ${line}`);
  const { types = '', values, format, leafClass, properties, open, rest = '', items } = parts;
  const found = new Set<ShapeType>(types === '*' ? ['any'] : [...types].flatMap((letter) => TYPES.get(letter) ?? []));
  if (properties !== undefined) found.add('object');
  if (items !== undefined) found.add('array');
  return {
    types: found,
    values: values === undefined ? null : values.split(',').map((text) => readValue(text, found)),
    format: format ?? null,
    leafClass: leafClass ?? null,
    properties: new Map((properties ?? '').split(' ').flatMap(readProperty)),
    rest: open === undefined ? null : rest === '' ? any : Number.parseInt(rest, 36),
    items: items === undefined ? null : Number.parseInt(items, 36),
  };
}

/** @param nameOf returns the number under which a node is written @param any the node for any value, which is omitted after `*` */
export function printNode(node: ShapeNode, nameOf: (id: NodeId) => string, any: NodeId | null): string {
  const types = node.types.has('any')
    ? '*'
    : LETTER_TYPES.filter((type) => node.types.has(type))
        .map((type) => LETTERS[type])
        .join('');
  const properties = [...node.properties].map(
    ([name, { node: id, optional }]) => `${encode(name)}${optional ? '?' : ''}:${nameOf(id)}`,
  );
  const rest = node.rest === null ? '' : node.rest === any ? '*' : `*${nameOf(node.rest)}`;
  return [
    types,
    node.values === null ? '' : `=${node.values.map((value) => encode(String(value))).join(',')}`,
    node.format === null ? '' : `~${encode(node.format)}`,
    node.leafClass === null ? '' : `!${node.leafClass}`,
    node.types.has('object') ? `{${properties.join(' ')}}${rest}` : '',
    node.items === null ? '' : `[${nameOf(node.items)}]`,
  ].join('');
}

const PROPERTY = /^([^:?]+)(\??):([0-9a-z]+)$/;

function readProperty(text: string): readonly (readonly [string, ShapeProperty])[] {
  if (text === '') return [];
  const [, name = '', optional, id = ''] = PROPERTY.exec(text) ?? [];
  if (id === '') throw new SyntaxError(`not a property: ${text}`);
  return [[decodeURIComponent(name), { node: Number.parseInt(id, 36), optional: optional === '?' }]];
}

/** Parses a value as the node's scalar type. A node with several scalar types lists only strings. */
function readValue(text: string, types: ReadonlySet<ShapeType>): ScalarValue {
  const plain = decodeURIComponent(text);
  if (types.has('string')) return plain;
  return types.has('boolean') ? plain === 'true' : Number(plain);
}

const SPECIAL = /[%\s=,~!?:*{}[\]]/g;

const encode = (text: string): string => text.replace(SPECIAL, encodeBytes);

const encodeBytes = (character: string): string =>
  [...new TextEncoder().encode(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');

/** Returns the shapes of a source, or null if there are none. @param source canonical name */
export function readShippedShape(source: string): Shape | null {
  const folder = assetFolder('catalog');
  const shape = readText(nodeFiles, join(folder, 'shapes', `${source}.json`));
  if (!shape.ok) return null;
  const review = readText(nodeFiles, join(folder, 'writers', `${source}.json`));
  return readShapeFile({ shape: shape.text, review: review.ok ? review.text : null });
}
