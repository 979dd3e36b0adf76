/**
 * Parses YAML within limits: the composer is recursive and makes an object for each value, so that a deep text would end the
 * process, and a long list would take all memory.
 */
import type { CST, Document, DocumentOptions, ParseOptions, SchemaOptions } from 'yaml';
import { Composer, Lexer, Parser, YAMLParseError } from 'yaml';

type Options = ParseOptions & DocumentOptions & SchemaOptions;

/** Maximum nesting, as of a payload; configurations have about ten levels. */
const MAX_DEPTH = 200;
/** Maximum number of tokens: about 300,000 keys with values, or 11,000 routes. */
const MAX_TOKENS = 1_500_000;

/** The text exceeds a limit. */
export class YamlLimitError extends RangeError {
  override readonly name = 'YamlLimitError';
  /** The offset at which it does. */
  readonly offset: number;

  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** Like `parseDocument` of `yaml`. @throws YamlLimitError before anything is composed */
export function parseBounded(text: string, options: Options): Document.Parsed {
  const [first, second] = new Composer(options).compose(boundedTokens(text), true, text.length);
  if (first === undefined) throw new Error('the composer returned no document');
  if (second !== undefined && options.logLevel !== 'silent')
    first.errors.push(new YAMLParseError([second.range[0], second.range[1]], 'MULTIPLE_DOCS', 'a second document'));
  return first as Document.Parsed;
}

function* boundedTokens(text: string): Generator<CST.Token> {
  const parser = new Parser();
  let count = 0;
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    if (parser.stack.length > MAX_DEPTH)
      throw new YamlLimitError(`nested more than ${MAX_DEPTH} levels deep`, parser.offset);
    if (++count > MAX_TOKENS) {
      const message = 'more keys and values than can be read from one file: split it, and name the parts in `include`';
      throw new YamlLimitError(message, parser.offset);
    }
  }
  yield* parser.end();
}
