import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { readGalleryAssets } from '../../../cli/files/gallery-assets.ts';
import { printGallery } from '../../../compiler/blueprints/gallery/print-gallery.ts';
import { publish } from '../../../compiler/blueprints/publish.ts';
import { lowerBlueprint } from '../../../compiler/lower/blueprint.ts';
import { shippedBlueprints } from '../../helpers/shipped-blueprints.ts';

const assets = readGalleryAssets();
const page = printGallery(publish(shippedBlueprints(), 'hookwright'), 'hookwright', assets);

test('the page is the same for the same catalog', () => {
  assert.equal(printGallery(publish([...shippedBlueprints()].reverse(), 'hookwright'), 'hookwright', assets), page);
});

test('the page loads nothing: no address but that of links', () => {
  assert.doesNotMatch(page, /<(?:link|img|iframe)\b|\ssrc=|@import|url\(/);
  for (const [, address] of page.matchAll(/href="([^"]*)"/g))
    assert.match(address ?? '', /^hookwright:\/\/blueprint\//);
});

test('its policy names the hashes of exactly the style and the scripts it has', () => {
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1]?.replaceAll('&#39;', "'") ?? '';
  const inline = [...page.matchAll(/<(?:style|script)>(.*?)<\/(?:style|script)>/gs)].map(([, text]) => text ?? '');
  assert.equal(inline.length, 3);
  for (const text of inline) {
    assert.ok(policy.includes(`'sha256-${createHash('sha256').update(text).digest('base64')}'`));
  }
  assert.match(policy, /^default-src 'none';/);
});

test('the notice of the cron library is on the page', () => {
  assert.match(page, /Permission is hereby granted, free of charge/);
});

test('no text of a blueprint becomes markup', () => {
  const evil = `</script><script>alert(1)</script><img src=x onerror="alert('2')">&amp;`;
  const { plan } = lowerBlueprint({
    key: 'evil',
    title: evil,
    description: evil,
    category: 'general',
    tags: [evil],
    fields: [
      { name: 'what', type: 'text', label: evil, default: evil, help: evil },
      { name: 'kind', type: 'enum', label: evil, default: evil, options: [evil, 'other'], help: evil },
    ],
    schedule: '0 8 * * *',
    prompt: '{what} {kind}',
  });
  assert.ok(plan);
  const hostile = printGallery(publish([plan], 'hookwright'), 'hookwright', assets);
  const tags = (text: string): number => text.match(/<(?:script|img)\b/g)?.length ?? 0;
  assert.equal(tags(hostile), tags(page));
  assert.doesNotMatch(hostile, /<img|alert\(1\)<\/script/);
});
