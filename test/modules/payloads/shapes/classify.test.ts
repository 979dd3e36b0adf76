/** Tests the classes and authors of payload fields. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { readShippedCatalog } from '../../../../compiler/node/shipped-catalog.ts';
import { classify } from '../../../../modules/payloads/compiler/shapes/classify.ts';
import { listPaths } from '../../../../modules/payloads/compiler/shapes/describe.ts';
import type { ReviewFile } from '../../../../modules/payloads/compiler/shapes/field-review.ts';
import { readReview } from '../../../../modules/payloads/compiler/shapes/field-review.ts';
import { createFormSet } from '../../../../modules/payloads/compiler/shapes/form-set.ts';
import { createSchemaReader } from '../../../../modules/payloads/compiler/shapes/from-json-schema.ts';
import type { LeafClass } from '../../../../modules/payloads/compiler/shapes/shape.ts';
import { createNodeTable, isLeafClass } from '../../../../modules/payloads/compiler/shapes/shape.ts';
import { shippedForms, shippedShape } from '../../../helpers/shapes.ts';

type Case = readonly [source: string, event: string, path: string, expected: LeafClass];

const CASES: readonly Case[] = [
  ['github', 'issues', 'issue.title', 'text'],
  ['github', 'issues', 'issue.body', 'text'],
  ['github', 'issues', 'issue.user.login', 'identifier'],
  ['github', 'issues', 'issue.number', 'number'],
  ['github', 'issues', 'issue.state', 'enum'],
  ['github', 'issues', 'issue.html_url', 'url'],
  ['github', 'issues', 'issue.created_at', 'identifier'],
  ['github', 'issues', 'issue.labels.0.name', 'ours'],
  ['github', 'issues', 'issue.labels', 'ours'],
  ['github', 'issues', 'issue', 'text'],
  ['github', 'issues', 'repository.full_name', 'identifier'],
  ['github', 'issues', 'repository.custom_properties', 'ours'],
  ['github', 'issues', 'no.such.path', 'unknown'],
  ['github', 'issues', 'route', 'ours'],
  ['github', 'issues', 'delivery_id', 'identifier'],
  ['github', 'pull_request', 'pull_request.head.ref', 'text'],
  ['github', 'pull_request', 'pull_request.base.ref', 'ours'],
  ['github', 'pull_request', 'pull_request.head.sha', 'identifier'],
  ['github', 'pull_request', 'pull_request.head.repo.full_name', 'identifier'],
  ['github', 'pull_request', 'pull_request.head.repo.description', 'text'],
  ['github', 'pull_request', 'number', 'number'],
  ['github', 'push', 'commits.0.message', 'text'],
  ['github', 'push', 'head_commit.author.username', 'text'],
  ['github', 'push', 'commits.0.modified.0', 'text'],
  ['github', 'push', 'ref', 'ours'],
  ['github', 'push', 'pusher.name', 'identifier'],
  ['github', 'workflow_run', 'workflow_run.head_branch', 'text'],
  ['github', 'workflow_run', 'workflow_run.display_title', 'text'],
  ['github', 'workflow_run', 'workflow_run.conclusion', 'enum'],
  ['github', 'check_run', 'check_run.name', 'text'],
  ['github', 'check_run', 'check_run.conclusion', 'enum'],
  ['slack', 'link_shared', 'event.links.0.url', 'text'],
  ['github', 'repository_dispatch', 'client_payload.text', 'unknown'],
  ['github', 'gollum', 'pages.0.title', 'text'],
  ['gitlab', 'Merge Request Hook', 'object_attributes.source_branch', 'text'],
  ['gitlab', 'Merge Request Hook', 'object_attributes.target_branch', 'ours'],
  ['gitlab', 'Note Hook', 'object_attributes.note', 'text'],
  ['slack', 'app_mention', 'event.text', 'text'],
  ['slack', 'app_mention', 'event.user', 'identifier'],
  ['telegram', '*', 'message.text', 'text'],
  ['telegram', '*', 'message.from.first_name', 'text'],
  ['telegram', '*', 'message.from.username', 'identifier'],
  ['telegram', '*', 'message.document.file_name', 'text'],
  ['telegram', '*', 'message', 'text'],
  ['agentmail', 'message.received', 'message.subject', 'text'],
  ['agentmail', 'message.received', 'message.from', 'text'],
  ['agentmail', 'message.received', 'message.in_reply_to', 'text'],
  ['agentmail', 'message.received', 'message.references.0', 'text'],
  ['agentmail', 'message.received', 'message.attachments.0.content_type', 'text'],
  ['agentmail', 'message.received', 'message.thread_id', 'identifier'],
  // One of AgentMail's words, which are not documented.
  ['agentmail', 'message.received', 'message.timestamp', 'identifier'],
  ['github', 'star', 'sender.name', 'text'],
  ['github', 'star', 'sender.email', 'text'],
  ['github', 'star', 'sender.login', 'identifier'],
  ['github', 'star', 'sender.html_url', 'url'],
  ['telegram', '*', 'message.reply_to_message.text', 'text'],
  ['telegram', '*', 'message.reply_to_message.from.username', 'identifier'],
  ['stripe', 'invoice.paid', 'data.object.customer_name', 'text'],
  ['stripe', 'invoice.paid', 'data.object.currency', 'identifier'],
  ['stripe', 'invoice.paid', 'data.object.amount_paid', 'number'],
];

test('every kind of field has its class', () => {
  for (const [source, event, path, expected] of CASES) {
    const found = classify(shippedForms(source, event), path.split('.'));
    assert.equal(found.class, expected, `${source} ${event} ${path}`);
  }
});

test('reports the author of a text, also inside an object', () => {
  const { text } = classify(shippedForms('github', 'issues'), ['issue', 'title']);
  assert.equal(text?.review?.by, 'the person who opens the issue');
  assert.equal(
    classify(shippedForms('github', 'pull_request'), ['pull_request', 'head', 'ref']).text?.path.at(-1),
    'ref',
  );
});

test('does not trust unknown fields and whole payloads', () => {
  assert.equal(classify(null, ['title']).class, 'unknown');
  assert.equal(classify(shippedForms('github', 'issues'), []).class, 'text');
});

describe('a custom schema', () => {
  const classIn = (schema: unknown): LeafClass => {
    const table = createNodeTable();
    const root = createSchemaReader({ properties: { name: schema } }, table).read({ properties: { name: schema } });
    const review = readReview('{"source":"x","sender":[],"trusted":{},"fields":[]}');
    const shape = {
      source: 'x',
      quality: 'good',
      complete: true,
      from: [],
      action: null,
      graph: table,
      review,
    } as const;
    return classify(createFormSet({ ...shape, variants: [{ event: 'a', root, action: null }] }), ['name']).class;
  };

  test('sets the class by type, format, values, pattern or `x-class`', () => {
    assert.equal(classIn({ type: 'string' }), 'text');
    assert.equal(classIn({ type: 'string', format: 'email' }), 'text');
    assert.equal(classIn({ type: 'string', format: 'date-time' }), 'identifier');
    assert.equal(classIn({ enum: ['a', 'b'] }), 'enum');
    assert.equal(classIn({ type: ['integer', 'null'] }), 'number');
    assert.equal(classIn({ type: 'string', 'x-class': 'ours' }), 'ours');
    assert.equal(classIn({ type: 'string', 'x-class': 'harmless' }), 'text');
    assert.equal(classIn({}), 'unknown');
  });

  test('a pattern that cannot match a sentence makes an identifier', () => {
    for (const pattern of ['^[A-Z]{3}-\\d+$', '^(?:eu|us)-[a-z0-9-]+$', '^\\w+$'])
      assert.equal(classIn({ type: 'string', pattern }), 'identifier', pattern);
    for (const pattern of [
      '^.+$',
      '^[^x]+$',
      '[a-z]+',
      '^[a-z ]+$',
      '^[a-z\\s]+$',
      '^\\S+ \\S+$',
      '^\\D+$',
      '^[\\W]+$',
    ])
      assert.equal(classIn({ type: 'string', pattern }), 'text', pattern);
  });
});

describe('the reviewed lists', () => {
  const folder = new URL('../../../../catalog/writers/', import.meta.url);
  const files = readdirSync(folder).map((file) => ({
    file,
    content: JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as ReviewFile,
  }));

  test('exist for each shape, and only for existing sources', () => {
    const { sources } = readShippedCatalog();
    const shapes = readdirSync(new URL('../../../../catalog/shapes/', import.meta.url));
    assert.deepEqual(files.map(({ file }) => file).toSorted(), shapes.toSorted());
    for (const { file, content } of files) {
      assert.equal(`${content.source}.json`, file);
      assert.ok(Object.hasOwn(sources, content.source), file);
    }
  });

  test('have a class and a reason for every decision, and an author for free text', () => {
    for (const { file, content } of files) {
      for (const { class: leafClass, by, why, paths } of content.fields) {
        const where = `${file} ${paths[0]}`;
        assert.ok(isLeafClass(leafClass), where);
        assert.match(why, /^[A-Z].*\.$/, where);
        assert.equal(leafClass === 'text', by !== undefined && leafClass === 'text', where);
      }
    }
  });

  test('class every header of a mail as free text, because its sender writes it', () => {
    const header =
      /(?:^|\.)(?:last_)?(?:subject|from|to|cc|reply_to|in_reply_to|references|headers|message.id|content_.*)$/;
    for (const [source, event] of [
      ['agentmail', 'message.received'],
      ['resend', 'email.received'],
      ['mailgun', 'delivered'],
    ] as const) {
      const set = shippedForms(source, event);
      const headers = listPaths(set)
        .filter(({ nodes }) => nodes.some(({ values }) => values === null))
        .filter(({ path }) => header.test(path.join('.')));
      assert.ok(headers.length > 2, source);
      for (const { path } of headers) assert.equal(classify(set, path).class, 'text', `${source} ${path.join('.')}`);
    }
  });

  test('name existing fields for authors', () => {
    for (const { content } of files) {
      const set = createFormSet(shippedShape(content.source));
      for (const field of [...content.sender, ...content.fields.flatMap(({ author }) => author ?? [])])
        assert.ok(
          set.find(field.split('.')).some(({ kind }) => kind !== 'absent'),
          `${content.source} ${field}`,
        );
    }
  });
});
