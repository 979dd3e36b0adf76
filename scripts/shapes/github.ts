/** Reads the shape of GitHub's payloads from two packages, because each has events and fields that are missing in the other. */

import { createSchemaReader } from '../../modules/payloads/compiler/shapes/from-json-schema.ts';
import type { NodeTable } from '../../modules/payloads/compiler/shapes/node-table.ts';
import { ANY, createNodeTable } from '../../modules/payloads/compiler/shapes/node-table.ts';
import type { NodeId } from '../../modules/payloads/compiler/shapes/shape.ts';
import { createJoiner } from '../../modules/payloads/compiler/shapes/unite.ts';
import type { NewShape } from '../shape-file/print-shape.ts';
import { originOf, readPackageJson } from './packages.ts';

const SCHEMAS = '@octokit/webhooks-schemas';
const OPENAPI = '@octokit/openapi-webhooks';

/** Root nodes by event and action (`issues/opened`, `push/`). */
type Roots = Map<string, NodeId>;

/** github.com first; the others only for events that it does not have. */
const EDITIONS = ['api.github.com', 'ghec', 'ghes-3.19', 'ghes-3.14'];

export function readGithub(): NewShape {
  const table = createNodeTable();
  const { unite } = createJoiner(table);
  const [main, ...others] = EDITIONS.map((edition) => readOpenapi(edition, table));
  const roots = new Map(main);
  for (const [key, root] of readSchemas(table)) roots.set(key, uniteWith(roots.get(key), root, unite));
  for (const other of others) for (const [key, root] of other) if (!roots.has(key)) roots.set(key, root);
  openPermissions(table);
  addCommon(roots, table);
  return {
    source: 'github',
    quality: 'exact',
    complete: true,
    from: [originOf(SCHEMAS), originOf(OPENAPI)],
    action: 'action',
    graph: table,
    events: byEvent(roots),
  };
}

function readSchemas(table: NodeTable): Roots {
  const document = readPackageJson(SCHEMAS, 'schema.json') as { definitions: Record<string, unknown> };
  const reader = createSchemaReader(document, table);
  const found = Object.entries(document.definitions).flatMap(([name, schema]): readonly [string, NodeId][] => {
    const [event = '', action] = name.split('$');
    return action === undefined ? [] : [[`${event}/${action === 'event' ? '' : action}`, reader.read(schema)]];
  });
  return new Map(found);
}

interface Operation {
  readonly post: {
    readonly operationId: string;
    readonly requestBody: { readonly content: { readonly 'application/json': { readonly schema: unknown } } };
  };
}

function readOpenapi(edition: string, table: NodeTable): Roots {
  const document = readPackageJson(OPENAPI, `generated/${edition}.json`) as { webhooks: Record<string, Operation> };
  const reader = createSchemaReader(document, table);
  const found = Object.values(document.webhooks).map(({ post }): readonly [string, NodeId] => {
    const [event = '', action = ''] = post.operationId.replaceAll('-', '_').split('/');
    return [`${event}/${action}`, reader.read(post.requestBody.content['application/json'].schema)];
  });
  return new Map(found);
}

const uniteWith = (known: NodeId | undefined, more: NodeId, unite: (a: NodeId, b: NodeId) => NodeId): NodeId =>
  known === undefined ? more : unite(known, more);

/** Opens the permissions of an app, because GitHub Enterprise Server has more, and new ones appear every year. */
function openPermissions(table: NodeTable): void {
  const any = table.add(ANY);
  for (const id of Array.from({ length: table.size }, (_, index) => index)) {
    const { properties } = table.node(id);
    const permissions = properties.get('permissions');
    const isApp = properties.has('events') || properties.has('app_id');
    if (permissions !== undefined && isApp)
      table.define(permissions.node, { ...table.node(permissions.node), rest: any });
  }
}

/** Fields that every event may have according to GitHub; some types in the packages omit them. */
const COMMON = ['enterprise', 'installation', 'organization'];

function addCommon(roots: Roots, table: NodeTable): void {
  for (const name of COMMON) {
    const [donor] = [...roots.values()].flatMap((root) => table.node(root).properties.get(name) ?? []);
    for (const root of roots.values()) {
      const node = table.node(root);
      if (donor === undefined || node.properties.has(name)) continue;
      const properties = new Map([...node.properties, [name, { ...donor, optional: true }]]);
      table.define(root, { ...node, properties });
    }
  }
}

function byEvent(roots: Roots): ReadonlyMap<string, readonly NodeId[]> {
  const events = new Map<string, NodeId[]>();
  for (const [key, root] of roots) {
    const [event = ''] = key.split('/');
    events.set(event, [...(events.get(event) ?? []), root]);
  }
  return events;
}
