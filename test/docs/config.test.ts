/** docs/config.md shows an example for every key that is not a switch, and each would pass the schema. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { readSchema } from '../../modules/setup/cli/schema.ts';
import { configKeys } from '../../scripts/docs/config-page.ts';

const ajv = new Ajv2020({ strict: false, code: { optimize: false } });
const $defs = { ...(readSchema('config').$defs as object), ...(readSchema('route').$defs as object) };
for (const name of ['config', 'route', 'source', 'target']) ajv.addSchema(readSchema(name));

/** A map that the page describes in a separate section, or that holds such maps. */
const OWN_SECTION =
  /^(platforms|platform_toolsets|gateway|agent|jobs|sources|targets|extra|routes|coalesce|openai|sandbox)$/;

for (const { section, key, node } of configKeys()) {
  test(`${section}: ${key}`, () => {
    const { examples = [] } = node;
    const needsNone = node.type === 'boolean' || node.enum !== undefined || OWN_SECTION.test(key);
    assert.ok(needsNone || examples.length > 0, 'give it `examples` in its schema');
    const isValid = ajv.compile({ ...node, $defs });
    for (const example of examples) {
      assert.ok(isValid(example), `${JSON.stringify(example)}: ${ajv.errorsText(isValid.errors)}`);
    }
  });
}
