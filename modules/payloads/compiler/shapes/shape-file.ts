/** Reads a file of `catalog/shapes/`. Nodes are parsed on demand, because a config uses few of them. */
import { readNode } from './encoding.ts';
import { NO_REVIEW, readReview } from './field-review.ts';
import type { NodeId, Shape, ShapeGraph, ShapeNode, ShapeOrigin, ShapeQuality } from './shape.ts';
import { singleValue } from './single-value.ts';

export interface ShapeFile {
  readonly generated: string;
  readonly source: string;
  readonly quality: ShapeQuality;
  readonly from: readonly ShapeOrigin[];
  /** Dotted path of the field that distinguishes the forms of an event, or null. */
  readonly action: string | null;
  /** By event: numbers of the root nodes of its forms, separated by blanks. */
  readonly events: Readonly<Record<string, string>>;
  /** See encoding.ts. The first line is `*`. */
  readonly nodes: readonly string[];
}

/** The node for any value, which is line 0. */
export const ANY_NODE: NodeId = 0;

/** The contents of the shipped files about one sender's payloads. */
export interface ShapeTexts {
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
        // Read on demand as well: few forms of a sender's hundreds are asked for.
        get action() {
          return action === null ? null : singleValue(graph, root, action);
        },
      };
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
