/** Reads TypeScript types as nodes that describe the JSON of their values. */
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import type { LazyNodes } from '../../modules/payloads/compiler/shapes/lazy-nodes.ts';
import { createLazyNodes } from '../../modules/payloads/compiler/shapes/lazy-nodes.ts';
import type { NodeTable } from '../../modules/payloads/compiler/shapes/node-table.ts';
import { ANY } from '../../modules/payloads/compiler/shapes/node-table.ts';
import type {
  NodeId,
  ScalarValue,
  ShapeNode,
  ShapeProperty,
  ShapeType,
} from '../../modules/payloads/compiler/shapes/shape.ts';

export interface TypeReader {
  /** The members of an exported union type; the type itself if it is not a union. */
  membersOf(name: string): readonly ts.Type[];
  read(type: ts.Type): NodeId;
  /** The texts or numbers that a property may be; empty: any. @param path relative to the type */
  literalsOf(type: ts.Type, path: readonly string[]): readonly ScalarValue[];
  propertiesOf(type: ts.Type): readonly (readonly [string, ts.Type])[];
  readonly table: NodeTable;
}

export interface TypeReading {
  /** See `Adjustment.unexpanded`. */
  readonly unexpanded: boolean;
}

/** @param text a module that exports the types to read */
export function createTypeReader(text: string, table: NodeTable, { unexpanded }: TypeReading): TypeReader {
  const file = fileURLToPath(new URL('types-to-read.ts', import.meta.url));
  const program = createProgram(file, text);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file) as ts.SourceFile;
  const at: At = { checker, source };
  const any = table.add(ANY);
  const nodes = createLazyNodes<ts.Type>(table, (type, lazy) =>
    readType(type, { ...at, table, any, nodes: lazy, unexpanded }),
  );
  const aliases = new Map(
    source.statements.filter(ts.isTypeAliasDeclaration).map((alias) => [alias.name.text, alias] as const),
  );
  return {
    table,
    membersOf(name) {
      const alias = aliases.get(name);
      if (alias === undefined) throw new Error(`unknown type ${name}`);
      const type = checker.getTypeFromTypeNode(alias.type);
      if ((type.flags & ts.TypeFlags.Any) !== 0) throw new Error(`cannot resolve the type ${name}: ${alias.getText()}`);
      return type.isUnion() ? type.types : [type];
    },
    read(type) {
      const id = nodes.idOf(type);
      nodes.finish();
      return id;
    },
    literalsOf: (type, path) => literalsAt(type, path, at),
    propertiesOf: (type) =>
      checker.getPropertiesOfType(type).map((symbol) => [symbol.name, typeOf(symbol, at)] as const),
  };
}

interface At {
  readonly checker: ts.TypeChecker;
  readonly source: ts.SourceFile;
}

function createProgram(file: string, text: string): ts.Program {
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts', 'lib.dom.d.ts'],
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => path === file || fileExists(path);
  host.getSourceFile = (path, ...more) =>
    path === file ? ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true) : getSourceFile(path, ...more);
  return ts.createProgram([file], options, host);
}

function literalsAt(type: ts.Type, path: readonly string[], at: At): readonly ScalarValue[] {
  const [name, ...rest] = path;
  if (name !== undefined) {
    const members = type.isUnion() ? type.types : [type];
    return members.flatMap((member) => {
      const symbol = at.checker.getPropertyOfType(member, name);
      return symbol === undefined ? [] : literalsAt(typeOf(symbol, at), rest, at);
    });
  }
  const members = type.isUnion() ? type.types : [type];
  return members.flatMap((member) => (member.isStringLiteral() || member.isNumberLiteral() ? [member.value] : []));
}

const typeOf = (symbol: ts.Symbol, { checker, source }: At): ts.Type =>
  checker.getTypeOfSymbolAtLocation(symbol, source);

interface Reading extends At {
  readonly table: NodeTable;
  readonly any: NodeId;
  readonly nodes: LazyNodes<ts.Type>;
  readonly unexpanded: boolean;
}

function readType(type: ts.Type, reading: Reading): NodeId {
  const { table, nodes } = reading;
  if (type.isUnion()) {
    const members = type.types.filter((member) => (member.flags & NOTHING) === 0);
    if (members.length === 0) return reading.any;
    const isText = reading.unexpanded && members.some((member) => (member.flags & TypeFlags.String) !== 0);
    const sent = isText ? members.filter((member) => (member.flags & TypeFlags.Object) === 0) : members;
    return sent.map((member) => nodes.idOf(member)).reduce(nodes.joiner.unite);
  }
  return table.add(readOne(type, reading));
}

const { TypeFlags } = ts;
const NOTHING = TypeFlags.Undefined | TypeFlags.Void | TypeFlags.Never;

function readOne(type: ts.Type, reading: Reading): ShapeNode {
  const { flags } = type;
  if (type.isStringLiteral() || type.isNumberLiteral())
    return scalar(typeof type.value === 'string' ? 'string' : 'number', [type.value]);
  if ((flags & TypeFlags.BooleanLike) !== 0) return scalar('boolean');
  if ((flags & TypeFlags.StringLike) !== 0) return scalar('string');
  if ((flags & (TypeFlags.NumberLike | TypeFlags.BigIntLike)) !== 0) return scalar('number');
  if ((flags & TypeFlags.Null) !== 0) return scalar('null');
  if (type.isIntersection()) {
    // `string & {}` is any string, even next to literals; a branded string is a string.
    const plain = type.types.find((member) => (member.flags & (TypeFlags.String | TypeFlags.Number)) !== 0);
    if (plain !== undefined) return readOne(plain, reading);
    return readObject(type, reading);
  }
  return (flags & TypeFlags.Object) === 0 ? ANY : readObject(type, reading);
}

const scalar = (type: ShapeType, values: readonly ScalarValue[] | null = null): ShapeNode => ({
  ...ANY,
  types: new Set([type]),
  values,
});

/** Classes whose JSON is a text, or that contain bytes. */
const CLASSES: Readonly<Record<string, ShapeNode>> = {
  Date: { ...scalar('string'), format: 'date-time' },
  Decimal: scalar('string'),
  Buffer: ANY,
  Uint8Array: ANY,
  Blob: ANY,
};

function readObject(type: ts.Type, reading: Reading): ShapeNode {
  const { checker, nodes } = reading;
  const known = CLASSES[type.symbol?.name ?? ''];
  if (known !== undefined) return known;
  if (checker.isArrayType(type) || checker.isTupleType(type)) {
    const items = checker.getTypeArguments(type as ts.TypeReference).map((item) => nodes.idOf(item));
    const node = items.length === 0 ? reading.any : items.reduce(nodes.joiner.unite);
    return { ...ANY, types: new Set(['array']), items: node };
  }
  if (type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0) return ANY;
  const properties = new Map(checker.getPropertiesOfType(type).flatMap((symbol) => readProperty(symbol, reading)));
  const index = checker.getIndexInfoOfType(type, ts.IndexKind.String)?.type;
  const rest = index !== undefined ? nodes.idOf(index) : properties.size === 0 ? reading.any : null;
  return { ...ANY, types: new Set(['object']), properties, rest };
}

function readProperty(symbol: ts.Symbol, reading: Reading): readonly (readonly [string, ShapeProperty])[] {
  // Symbols, private members and methods are not in JSON.
  if (symbol.name.startsWith('__@') || symbol.name.startsWith('#')) return [];
  const type = typeOf(symbol, reading);
  if (type.getCallSignatures().length > 0 || (type.flags & TypeFlags.Never) !== 0) return [];
  const mayLack = type.isUnion() && type.types.some((member) => (member.flags & NOTHING) !== 0);
  const optional = (symbol.flags & ts.SymbolFlags.Optional) !== 0 || mayLack;
  if ((type.flags & NOTHING) !== 0) return [];
  return [[symbol.name, { node: reading.nodes.idOf(type), optional }]];
}
