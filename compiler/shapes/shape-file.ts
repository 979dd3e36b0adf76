/** Reads a file of `catalog/shapes/`. Nodes are read when something asks for them: a config uses few of them. */
import { readNode } from './encoding.ts';
import { NO_REVIEW, readReview } from './field-review.ts';
import type { NodeId, Shape, ShapeGraph, ShapeNode, ShapeOrigin, ShapeQuality } from './shape.ts';
import { singleValue } from './single-value.ts';

/** The file as it is written. */
export interface ShapeFile {
  readonly generated: string;
  readonly source: string;
  readonly quality: ShapeQuality;
  readonly from: readonly ShapeOrigin[];
  /** Dotted; null: the forms of an event are not told apart by one field. */
  readonly action: string | null;
  /** By event: the numbers of the roots of its forms, separated by blanks. */
  readonly events: Readonly<Record<string, string>>;
  /** See encoding.ts. The first line is `*`. */
  readonly nodes: readonly string[];
}

/** Line 0 is the node that holds anything. */
export const ANY_NODE: NodeId = 0;

/** What is shipped about the payloads of one sender, as texts. */
export interface ShapeTexts {
  /** The file of `catalog/shapes/`. */
  readonly shape: string;
  /** The file of `catalog/writers/`; null: its fields have not been reviewed. */
  readonly review: string | null;
}

/** @param texts of files that this program's own generator, and its authors, wrote */
export function readShapeFile({ shape: text, review }: ShapeTexts): Shape {
  const file = JSON.parse(text) as ShapeFile;
  const graph = lazyGraph(file.nodes);
  const action = file.action?.split('.') ?? null;
  const variants = Object.entries(file.events).flatMap(([event, roots]) =>
    roots.split(' ').map((id) => {
      const root = Number.parseInt(id, 36);
      return { event, root, action: action === null ? null : singleValue(graph, root, action) };
    }),
  );
  const { source, quality, from } = file;
  return { source, quality, from, action, graph, variants, review: review === null ? NO_REVIEW : readReview(review) };
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
