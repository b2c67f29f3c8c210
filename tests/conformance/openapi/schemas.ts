import type { Row } from '../row.js';

const section = 'Schemas';

export const rows: readonly Row[] = [
  {
    section,
    feature: 'type',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: string
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"a"',
        status: 200,
        response: { body: 'a' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '1',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'type: [string, null]',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: [string, 'null']
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"a"',
        status: 200,
        response: { body: 'a' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: 'null',
        status: 200,
        response: { body: null },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '1',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'type: integer and number',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties: { a: { type: integer }, b: { type: number } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"a": 1, "b": 1.5}',
        status: 200,
        response: { body: { a: 1, b: 1.5 } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"a": 1.5}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'type: boolean and null',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties: { a: { type: boolean }, b: { type: 'null' } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"a": true, "b": null}',
        status: 200,
        response: { body: { a: true, b: null } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"b": false}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'enum',
    note: 'The type is a union of the values.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              enum: [a, 1, null, ""]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    program: `const { data } = await client.POST('/items', { body: 1 });
assert.ok(data);
// @ts-expect-error 2 is not a value.
client.POST('/items', { body: 2 }).catch(() => undefined);`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"a"',
        status: 200,
        response: { body: 'a' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '1',
        status: 200,
        response: { body: 1 },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: 'null',
        status: 200,
        response: { body: null },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"b"',
        status: 400,
        response: { error: 'Expected the body to be one of a, 1, null, ""; received 1 character.' },
      },
    ],
  },
  {
    section,
    feature: 'const',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              const: a
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"a"',
        status: 200,
        response: { body: 'a' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"b"',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'multipleOf',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: number
              multipleOf: 5
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '10',
        status: 200,
        response: { body: 10 },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '11',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'multipleOf with decimals',
    note: 'Multiples are exact, such as 19.99 of 0.01.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: array
              items: { type: number, multipleOf: 0.01 }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '[0.07, 1.15, 19.99, -4.35, 0, 1e20, 123456789.01]',
        status: 200,
        response: { body: [0.07, 1.15, 19.99, -4.35, 0, 1e20, 123456789.01] },
      },
      ...['0.075', '19.990001', '123456789.015'].map((value) => ({
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: `[${value}]`,
        status: 400,
        response: { code: 'invalid_input' },
      })),
    ],
  },
  {
    section,
    feature: 'minimum, maximum',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: integer
              minimum: 1
              maximum: 3
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '1',
        status: 200,
        response: { body: 1 },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '3',
        status: 200,
        response: { body: 3 },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '0',
        status: 400,
        response: { code: 'invalid_input' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '4',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'exclusiveMinimum, exclusiveMaximum',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: number
              exclusiveMinimum: 1
              exclusiveMaximum: 3
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '2',
        status: 200,
        response: { body: 2 },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '1',
        status: 400,
        response: { code: 'invalid_input' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '3',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'minLength, maxLength',
    note: 'Lengths are counted in characters, not in bytes or UTF-16 units.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: string
              minLength: 2
              maxLength: 3
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"\\u00e4\\u00f6"',
        status: 200,
        response: { body: 'äö' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"a"',
        status: 400,
        response: { code: 'invalid_input' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"abcd"',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'pattern',
    note: 'Patterns are regular expressions of JavaScript with the `u` flag.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: string
              pattern: '^[a-z]+$'
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"a"',
        status: 200,
        response: { body: 'a' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"A"',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'pattern with needless escapes',
    note: 'Other needless escapes, and braces, brackets and hyphens without one, are written as the `u` flag demands. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: string
              pattern: '^\\_[\\w-.\\:]+\\-{a}$'
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '13:15 Patterns were written in the Unicode mode of JavaScript, which forbids needless escapes (1 place).',
      '14:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"_a-.:-{a}"',
        status: 200,
        response: { body: '_a-.:-{a}' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"_a"',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'format',
    note: 'The formats of JSON Schema and OpenAPI that [ajv-formats](https://ajv.js.org/packages/ajv-formats.html) has are validated.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: string
              format: date-time
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"2026-01-02T03:04:05Z"',
        status: 200,
        response: { body: '2026-01-02T03:04:05Z' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"yesterday"',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'format: any other name',
    note: 'An annotation, which validates nothing. A name that looks like a typo of a known format is a warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: string
              format: colour
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"red"',
        status: 200,
        response: { body: 'red' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '1',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'items',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: array
              items: { type: integer }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '[1, 2]',
        status: 200,
        response: { body: [1, 2] },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '["a"]',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'prefixItems',
    note: 'The type is a tuple. Items after `minItems` may be absent.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: array
              prefixItems: [{ type: string }, { type: integer }]
              items: false
              minItems: 2
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '["a", 1]',
        status: 200,
        response: { body: ['a', 1] },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '[1, "a"]',
        status: 400,
        response: { code: 'invalid_input' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '["a", 1, 2]',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'prefixItems with items, without minItems',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema: { type: array, prefixItems: [{ type: string }, { type: integer }], items: { type: boolean } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    program: `const { sendItem } = await import('./calls.js');
assert.deepEqual((await sendItem(client, { body: ['a'] })).body, ['a']);
assert.deepEqual((await sendItem(client, { body: ['a', 1, true] })).body, ['a', 1, true]);`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '["a"]',
        status: 200,
        response: { body: ['a'] },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '["a", 1, "b"]',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'contains, minContains, maxContains',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: array
              contains: { type: string }
              minContains: 1
              maxContains: 2
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '["a", 1]',
        status: 200,
        response: { body: ['a', 1] },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '[1]',
        status: 400,
        response: { code: 'invalid_input' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '["a", "b", "c"]',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'minItems, maxItems, uniqueItems',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: array
              minItems: 1
              maxItems: 2
              uniqueItems: true
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '[1, 2]',
        status: 200,
        response: { body: [1, 2] },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '[]',
        status: 400,
        response: { code: 'invalid_input' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '[1, 1]',
        status: 400,
        response: { code: 'invalid_input' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '[1, 2, 3]',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'unevaluatedItems',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: array
              allOf:
                - prefixItems: [{ type: string }]
              unevaluatedItems: false
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '["a"]',
        status: 200,
        response: { body: ['a'] },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '["a", "b"]',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'unevaluatedItems with contains',
    note: 'ajv does not count what they evaluate.',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: array
              allOf: [{ contains: { const: 1 } }]
              unevaluatedItems: false
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['14:15 "unevaluatedItems" is not supported with "contains".'],
  },
  {
    section,
    feature: 'unevaluatedItems with items in an alternative',
    note: 'ajv does not count what they evaluate.',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: array
              anyOf: [{ items: { type: string } }, { minItems: 3 }]
              unevaluatedItems: { type: boolean }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: [
      '14:15 "unevaluatedItems" is not supported with "items" in an alternative or a condition: use prefixItems there.',
    ],
  },
  {
    section,
    feature: 'properties, required',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [name]
              properties:
                name: { type: string }
                size: { type: integer }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"name": "a"}',
        status: 200,
        response: { body: { name: 'a' } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"name": "a", "more": 1}',
        status: 200,
        response: { body: { name: 'a', more: 1 } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{}',
        status: 400,
        response: { code: 'invalid_input' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"name": 1}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'additionalProperties',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties: { name: { type: string } }
              additionalProperties: { type: integer }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    program: `const { sendItem } = await import('./calls.js');
assert.deepEqual((await sendItem(client, { body: { name: 'a', x: 1 } })).body, { name: 'a', x: 1 });`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"name": "a", "x": 1}',
        status: 200,
        response: { body: { name: 'a', x: 1 } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"x": "a"}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'additionalProperties: false',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties: { name: { type: string } }
              additionalProperties: false
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"name": "a"}',
        status: 200,
        response: { body: { name: 'a' } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"x": 1}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'patternProperties',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              patternProperties: { '^x-': { type: integer } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"x-a": 1}',
        status: 200,
        response: { body: { 'x-a': 1 } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"x-a": "b"}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'propertyNames',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              propertyNames: { pattern: '^[a-z]+$' }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"a": 1}',
        status: 200,
        response: { body: { a: 1 } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"A": 1}',
        status: 400,
        response: { error: 'Expected the property name "A" of the body to match pattern "^[a-z]+$".' },
      },
    ],
  },
  {
    section,
    feature: 'minProperties, maxProperties',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              minProperties: 1
              maxProperties: 2
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"a": 1}',
        status: 200,
        response: { body: { a: 1 } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{}',
        status: 400,
        response: { code: 'invalid_input' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"a": 1, "b": 2, "c": 3}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'unevaluatedProperties',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              allOf:
                - type: object
                  properties: { a: { type: integer } }
              unevaluatedProperties: false
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"a": 1}',
        status: 200,
        response: { body: { a: 1 } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"b": 1}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'unevaluatedProperties with if and without then',
    note: 'ajv does not count what they evaluate.',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              if: { properties: { kind: { const: a } }, required: [kind] }
              else: { properties: { size: { type: integer } } }
              unevaluatedProperties: false
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['15:15 "unevaluatedProperties" is not supported with an "if" without "then": use anyOf.'],
  },
  {
    section,
    feature: 'dependentRequired',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties: { card: { type: string }, address: { type: string } }
              dependentRequired: { card: [address] }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"card": "1", "address": "b"}',
        status: 200,
        response: { body: { card: '1', address: 'b' } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{}',
        status: 200,
        response: { body: {} },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"card": "1"}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'dependentSchemas',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties: { card: { type: string } }
              dependentSchemas:
                card: { type: object, required: [code], properties: { code: { type: integer } } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"card": "1", "code": 2}',
        status: 200,
        response: { body: { card: '1', code: 2 } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"card": "1"}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'allOf',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              allOf:
                - { type: object, required: [a], properties: { a: { type: integer } } }
                - { type: object, required: [b], properties: { b: { type: integer } } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"a": 1, "b": 2}',
        status: 200,
        response: { body: { a: 1, b: 2 } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"a": 1}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'anyOf',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              anyOf: [{ type: string }, { type: integer }]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"a"',
        status: 200,
        response: { body: 'a' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '1',
        status: 200,
        response: { body: 1 },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '1.5',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'alternatives that a property distinguishes, without a discriminator',
    note: 'The error is that of the alternative whose property fits.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties:
                shape:
                  oneOf:
                    - { type: object, properties: { kind: { enum: [circle] }, r: { type: integer } } }
                    - { type: object, properties: { kind: { const: square }, side: { type: integer } } }
                content:
                  anyOf:
                    - { type: string }
                    - type: array
                      items: { oneOf: [{ type: object, properties: { type: { const: text } } }, { type: object, properties: { type: { const: image } } }] }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      ...[
        ['{"shape":{"kind":"circle","r":"x"}}', { field: 'shape.r' }] as const,
        [
          '{"shape":{"kind":"oval"}}',
          { error: 'Expected shape.kind to be one of circle, square; received 4 characters.' },
        ] as const,
        ['{"content":[{"type":"sound"}]}', { field: 'content.0.type' }] as const,
      ].map(([body, response]) => ({
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body,
        status: 400,
        response,
      })),
    ],
  },
  {
    section,
    feature: 'oneOf with a constant in each alternative, and no discriminator',
    note: 'The error of a value that lacks properties is that of the choice. A discriminator makes it more exact.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              oneOf:
                - { type: object, required: [op, value], properties: { op: { enum: [add, test] }, value: { type: integer } } }
                - { type: object, required: [op], properties: { op: { const: remove } } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"op":"add","value":1}',
        status: 200,
        response: { body: { op: 'add', value: 1 } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"op":"add"}',
        status: 400,
        response: { error: 'Expected the body to match exactly one of its alternatives; received an object.' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"op":"move","value":1}',
        status: 400,
        response: { field: 'op' },
      },
    ],
  },
  {
    section,
    feature: 'oneOf',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              oneOf: [{ type: integer }, { type: number, minimum: 5 }]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '1',
        status: 200,
        response: { body: 1 },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '5.5',
        status: 200,
        response: { body: 5.5 },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '6',
        status: 400,
        response: { code: 'invalid_input' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"a"',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'a list that contains itself',
    note: 'Any value of JSON, for example.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: '#/components/schemas/Item' }
      responses:
        '200': { description: The item., content: { application/json: { schema: { $ref: '#/components/schemas/Item' } } } }
components:
  schemas:
    Item:
      oneOf:
        - { type: [string, number, boolean, 'null'] }
        - { type: array, items: { $ref: '#/components/schemas/Item' } }
        - { type: object, additionalProperties: { $ref: '#/components/schemas/Tree' } }
    Tree: { type: array, maxItems: 2, items: { anyOf: [{ type: string }, { $ref: '#/components/schemas/Tree' }] } }
`,
    handlers: `  async sendItem({ body }) {
    return { status: 200, body };
  },`,
    program: `const { sendItem } = await import('./calls.js');
const item = await sendItem(client, { body: [1, [null, { a: ['b', ['c']] }]] });
assert.deepEqual(item, [1, [null, { a: ['b', ['c']] }]]);
// @ts-expect-error The lists of an object have no numbers.
const promise = sendItem(client, { body: { a: [1] } });
await assert.rejects(promise);`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '[1, [null, {"a": ["b", ["c"]]}]]',
        status: 200,
        response: [1, [null, { a: ['b', ['c']] }]],
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"a": [["b", "c", "d"]]}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'an object without properties',
    note: 'Its properties may have any values.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: '#/components/schemas/Item' }
      responses:
        '200': { description: The item., content: { application/json: { schema: { $ref: '#/components/schemas/Item' } } } }
components:
  schemas:
    Item:
      type: object
      required: [free]
      properties:
        free: { type: object, minProperties: 1 }
        part: { allOf: [{ $ref: '#/components/schemas/Part' }, { type: object, required: [size] }] }
    Part: { type: object, properties: { size: { type: integer } } }
`,
    handlers: `  async sendItem({ body }) {
    return { status: 200, body };
  },`,
    program: `const { sendItem } = await import('./calls.js');
const { free, part } = await sendItem(client, { body: { free: { a: [1] }, part: { size: 1 } } });
assert.deepEqual(free.a satisfies unknown, [1]);
assert.equal(part?.size satisfies number | undefined, 1);
// @ts-expect-error The property of the part is a number.
await assert.rejects(sendItem(client, { body: { free: { a: 1 }, part: { size: 'a' } } }));`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"free": {"a": [1]}, "part": {"size": 1}}',
        status: 200,
        response: { free: { a: [1] } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"free": {}}',
        status: 400,
        response: { field: 'free' },
      },
    ],
  },
  {
    section,
    feature: 'anyOf and oneOf beside other keywords',
    note: 'The type has all of them.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: '#/components/schemas/Item' }
      responses:
        '200': { description: The item., content: { application/json: { schema: { $ref: '#/components/schemas/Item' } } } }
components:
  schemas:
    Item:
      type: object
      properties:
        name: { type: string }
        mail: { type: string }
        colour: { type: string, oneOf: [{ const: red, title: Red }, { const: green, title: Green }] }
        size: { type: integer, anyOf: [{ minimum: 10 }, { const: 0 }] }
        nothing: { const: null }
      anyOf: [{ required: [name] }, { type: object, required: [mail] }]
`,
    handlers: `  async sendItem({ body }) {
    return { status: 200, body };
  },`,
    program: `const { sendItem } = await import('./calls.js');
const { colour, size, nothing, name } = await sendItem(client, { body: { name: 'a', colour: 'green', size: 10, nothing: null } });
assert.deepEqual(
  [colour satisfies 'green' | 'red' | undefined, size satisfies number | undefined, nothing satisfies null | undefined],
  ['green', 10, null],
);
assert.equal(name satisfies string | undefined, 'a');
// @ts-expect-error There is no such colour.
await assert.rejects(sendItem(client, { body: { name: 'a', colour: 'blue' } }));`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"mail": "a", "colour": "red", "size": 0, "nothing": null}',
        status: 200,
        response: { mail: 'a', colour: 'red', size: 0, nothing: null },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"colour": "red"}',
        status: 400,
        response: { code: 'invalid_input' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"name": "a", "size": 5}',
        status: 400,
        response: { field: 'size' },
      },
    ],
  },
  {
    section,
    feature: 'not',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              not: { type: string }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '1',
        status: 200,
        response: { body: 1 },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"a"',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'if, then, else',
    note: 'Validated. The type does not distinguish the cases.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties: { country: { type: string }, zip: { type: string } }
              if: { properties: { country: { const: US } } }
              then: { properties: { zip: { pattern: "^\\\\d{5}$" } } }
              else: { properties: { zip: { maxLength: 8 } } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"country": "US", "zip": "12345"}',
        status: 200,
        response: { body: { country: 'US', zip: '12345' } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"country": "UK", "zip": "SW1A 1AA"}',
        status: 200,
        response: { body: { country: 'UK', zip: 'SW1A 1AA' } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"country": "US", "zip": "SW1A"}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: '$defs',
    note: 'Each definition that is used becomes a component, such as `Box_Size`.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              $ref: "#/components/schemas/Box"
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Box:
      type: object
      properties: { size: { $ref: "#/components/schemas/Box/$defs/Size" } }
      $defs: { Size: { type: integer, minimum: 1 } }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"size": 1}',
        status: 200,
        response: { body: { size: 1 } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"size": 0}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: '$ref to a schema',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              $ref: "#/components/schemas/Item"
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Item: { type: object, properties: { name: { type: string } } }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"name": "a"}',
        status: 200,
        response: { body: { name: 'a' } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"name": 1}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: '$ref of a property with the name of a keyword, in a short schema',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              $ref: "#/components/schemas/Item"
      responses:
        '200':
          description: The item.
          content:
            application/json:
              schema:
                $ref: "#/components/schemas/Item"
components:
  schemas:
    Item: { type: object, properties: { type: { $ref: "#/components/schemas/Kind" } } }
    Kind: { type: string, enum: [a, b] }
`,
    handlers: `async sendItem({ body }) { return { status: 200, body }; },`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"type": "a"}',
        status: 200,
        response: { type: 'a' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"type": "c"}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: '$ref with other keywords',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              $ref: "#/components/schemas/Name"
              minLength: 2
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Name: { type: string }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"ab"',
        status: 200,
        response: { body: 'ab' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"a"',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: '$ref to itself',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              $ref: "#/components/schemas/Tree"
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Tree:
      type: object
      properties:
        children: { type: array, items: { $ref: "#/components/schemas/Tree" } }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"children": [{"children": []}]}',
        status: 200,
        response: { body: { children: [{ children: [] }] } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"children": [{"children": 1}]}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: '$ref to a part of a schema',
    note: 'The part becomes a component, such as `Item_name`.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties: { name: { $ref: "#/components/schemas/Item/properties/name" } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Item: { type: object, properties: { name: { type: string, minLength: 1 }, item: { $ref: "#/components/schemas/Item" } } }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"name": "a"}',
        status: 200,
        response: { body: { name: 'a' } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"name": ""}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: '$ref to a definition beside the reference',
    note: 'As tools write schemas that contain themselves.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Tree' } } } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Tree:
      $ref: '#/components/schemas/Tree/$defs/Node'
      $defs:
        Node:
          type: object
          required: [name]
          properties:
            name: { type: string }
            parts: { type: array, items: { $ref: '#/components/schemas/Tree/$defs/Node' } }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"name": "a", "parts": [{"name": "b"}]}',
        status: 200,
        response: { body: { name: 'a', parts: [{ name: 'b' }] } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"name": "a", "parts": [{}]}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: '$ref to another document',
    note: 'The documents of a contract are listed in its configuration.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              $ref: "common.yaml#/components/schemas/Error/properties/error"
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"a"',
        status: 200,
        response: { body: 'a' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '1',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'default',
    note: 'Filled in before the handler is called. A default that does not match its schema is an error.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties: { size: { type: integer, default: 5 } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{}',
        status: 200,
        response: { body: { size: 5 } },
      },
    ],
  },
  {
    section,
    feature: 'default: null beside and behind a $ref',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties:
                colour: { $ref: '#/components/schemas/Colour', default: null }
                shape: { $ref: '#/components/schemas/Shape' }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Colour: { type: [string, 'null'], default: red }
    Shape: { type: [string, 'null'], default: null }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{}',
        status: 200,
        response: { body: { colour: null, shape: null } },
      },
    ],
  },
  {
    section,
    feature: '$ref inside a value of default, enum or const',
    note: 'It is part of the value.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties:
                schema: { type: object, default: { $ref: '#/components/schemas/Item' } }
                kind: { enum: [{ $ref: '#/components/schemas/Item' }] }
                name: { $ref: '#/components/schemas/Item' }
                whole: { $ref: '#/components/schemas/default' }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    default: { type: object, properties: { name: { $ref: '#/components/schemas/Item' } } }
    Item: { type: string, default: a }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": {"$ref": "#/components/schemas/Item"}}',
        status: 200,
        response: {
          body: {
            schema: { $ref: '#/components/schemas/Item' },
            kind: { $ref: '#/components/schemas/Item' },
            name: 'a',
          },
        },
      },
    ],
  },
  {
    section,
    feature: 'discriminator with oneOf',
    note: 'Each alternative demands its values of the property: those of the mapping, its constants, or its name. The type is a union.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              oneOf:
                - $ref: "#/components/schemas/Cat"
                - $ref: "#/components/schemas/Dog"
              discriminator: { propertyName: kind, mapping: { cat: "#/components/schemas/Cat", dog: Dog } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Cat: { type: object, required: [kind], properties: { kind: { type: string }, lives: { type: integer } } }
    Dog: { type: object, required: [kind], properties: { kind: { type: string }, name: { type: string } } }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "cat", "lives": 9}',
        status: 200,
        response: { body: { kind: 'cat', lives: 9 } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "dog", "name": "Rex"}',
        status: 200,
        response: { body: { kind: 'dog', name: 'Rex' } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "cat", "lives": "many"}',
        status: 400,
        response: { code: 'invalid_input' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "dog", "name": 1}',
        status: 400,
        response: { code: 'invalid_input', field: 'name' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "cow"}',
        status: 400,
        response: { code: 'invalid_input', field: 'kind' },
      },
    ],
  },
  {
    section,
    feature: 'discriminator without mapping, with read-only properties',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Pet:
      oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }, { type: 'null' }]
      discriminator: { propertyName: kind }
    Cat:
      type: object
      required: [kind, id]
      properties: { kind: { type: string }, id: { type: string, readOnly: true }, fur: { type: string, default: soft } }
    Dog: { type: object, required: [kind, id], properties: { kind: { type: string }, id: { type: string } } }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "Cat", "id": "1"}',
        status: 200,
        response: { body: { kind: 'Cat', fur: 'soft' } },
        isRepeated: false,
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "Dog", "id": "1"}',
        status: 200,
        response: { body: { kind: 'Dog', id: '1' } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: 'null',
        status: 200,
        response: { body: null },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "Dog"}',
        status: 400,
        response: { code: 'invalid_input', field: 'id' },
      },
    ],
  },
  {
    section,
    feature: 'discriminator without mapping, whose alternatives have constants',
    note: 'The constants are the mapping.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Pet:
      oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }]
      discriminator: { propertyName: kind }
    Cat: { type: object, required: [kind], properties: { kind: { const: cat }, lives: { type: integer } } }
    Dog:
      required: [kind]
      allOf:
        - properties: { kind: { $ref: '#/components/schemas/DogKind' }, name: { type: string } }
    DogKind: { type: string, enum: [dog, puppy] }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "cat", "lives": 9}',
        status: 200,
        response: { body: { kind: 'cat', lives: 9 } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "puppy", "name": "Rex"}',
        status: 200,
        response: { body: { kind: 'puppy', name: 'Rex' } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "dog", "name": 1}',
        status: 400,
        response: { code: 'invalid_input', field: 'name' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "Cat"}',
        status: 400,
        response: { code: 'invalid_input', field: 'kind' },
      },
    ],
    program: `await client.POST('/items', { body: { kind: 'cat', lives: 9 } });
// @ts-expect-error The name of the schema is not a value.
await client.POST('/items', { body: { kind: 'Cat' } });`,
  },
  {
    section,
    feature: 'discriminator whose mapping has a value that its alternative does not allow',
    note: 'As after a change of one of the two. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Pet:
      oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }]
      discriminator:
        propertyName: kind
        mapping:
          feline: '#/components/schemas/Cat'
          dog: '#/components/schemas/Dog'
    Cat: { type: object, required: [kind], properties: { kind: { const: cat } } }
    Dog: { type: object, required: [kind], properties: { kind: { type: string } } }
`,
    warnings: [
      '8:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
      '17:11 "Cat" allows only "cat" for "kind", so the value "feline" is never valid.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "feline"}',
        status: 400,
        response: { field: 'kind' },
      },
    ],
  },
  {
    section,
    feature: 'discriminator with a list among the alternatives',
    note: 'The property selects among the alternatives that are objects.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Pet:
      oneOf:
        - $ref: '#/components/schemas/Herd'
        - $ref: '#/components/schemas/Cat'
        - $ref: '#/components/schemas/Dog'
      discriminator:
        propertyName: kind
        mapping: { herd: '#/components/schemas/Herd', cat: '#/components/schemas/Cat', dog: '#/components/schemas/Dog' }
    Herd: { type: array, items: { $ref: '#/components/schemas/Cat' } }
    Cat: { type: object, required: [kind], properties: { kind: { type: string }, lives: { type: integer } } }
    Dog: { type: [object, 'null'], required: [kind], properties: { kind: { type: string }, name: { type: string } } }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '[{"kind": "cat", "lives": 9}]',
        status: 200,
        response: { body: [{ kind: 'cat', lives: 9 }] },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "dog", "name": "Rex"}',
        status: 200,
        response: { body: { kind: 'dog', name: 'Rex' } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: 'null',
        status: 200,
        response: { body: null },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "herd"}',
        status: 400,
        response: { code: 'invalid_input' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '["cat"]',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'discriminator that does not select an alternative',
    note: 'Has no effect, which is a warning: the schemas of the alternatives decide.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Pet:
      oneOf: [{ $ref: '#/components/schemas/Cat' }, { $ref: '#/components/schemas/Dog' }]
      discriminator: { propertyName: kind }
    Cat: { type: object, required: [kind, lives], properties: { kind: { const: pet }, lives: { type: integer } } }
    Dog: { type: object, required: [kind, name], properties: { kind: { const: pet }, name: { type: string } } }
`,
    warnings: [
      '8:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
      '14:7 The discriminator has no effect: "Cat" and "Dog" both allow "pet".',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "pet", "lives": 9}',
        status: 200,
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "pet", "name": "Rex"}',
        status: 200,
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "pet"}',
        status: 400,
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "Cat", "lives": 9}',
        status: 400,
      },
    ],
  },
  {
    section,
    feature: 'defaults in alternatives',
    note: 'Only alternatives that match fill in their defaults.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody: { required: true, content: { application/json: { schema: { $ref: '#/components/schemas/Pet' } } } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Pet:
      oneOf:
        - $ref: '#/components/schemas/Cat'
        - $ref: '#/components/schemas/Dog'
        - { type: object, required: [fins], properties: { fins: { type: integer }, salt: { type: boolean, default: true } } }
    Cat: { type: object, required: [lives], properties: { lives: { type: integer }, fur: { type: string, default: soft } } }
    Dog: { type: object, required: [name], maxProperties: 1, properties: { name: { type: string } } }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"lives": 9}',
        status: 200,
        response: { body: { lives: 9, fur: 'soft' } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"name": "Rex"}',
        status: 200,
        response: { body: { name: 'Rex' } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"fins": 2}',
        status: 200,
        response: { body: { fins: 2, salt: true } },
      },
    ],
  },
  {
    section,
    feature: 'discriminator with anyOf',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              anyOf:
                - $ref: "#/components/schemas/Cat"
                - $ref: "#/components/schemas/Dog"
              discriminator: { propertyName: kind }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Cat: { type: object, required: [kind], properties: { kind: { type: string }, lives: { type: integer } } }
    Dog: { type: object, required: [kind], properties: { kind: { type: string }, name: { type: string } } }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "Cat", "lives": 9}',
        status: 200,
        response: { body: { kind: 'Cat', lives: 9 } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"kind": "Dog", "name": 1}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'title, description, $comment, deprecated, examples',
    note: 'Documentation. An example that does not match its schema is a warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: integer
              title: A number
              description: Any number.
              $comment: Not for readers.
              deprecated: true
              examples: [1]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '1',
        status: 200,
        response: { body: 1 },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"a"',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'externalDocs',
    note: 'Documentation.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: integer
              externalDocs: { url: "https://example.com/numbers" }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '1',
        status: 200,
        response: { body: 1 },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"a"',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'contentEncoding, contentMediaType, contentSchema',
    note: 'Annotations, as JSON Schema defines them: the text is not decoded.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: string
              contentEncoding: base64
              contentMediaType: application/json
              contentSchema: { type: object }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"e30="',
        status: 200,
        response: { body: 'e30=' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '1',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: '$schema',
    note: '2020-12 only.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              $schema: https://json-schema.org/draft/2020-12/schema
              type: integer
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '1',
        status: 200,
        response: { body: 1 },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"a"',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'true and false as schemas',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties: { any: true, none: false, both: { allOf: [true, { type: string }] }, never: { allOf: [false] } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"any": 1, "both": "a"}',
        status: 200,
        response: { body: { any: 1, both: 'a' } },
      },
      ...['{"both": 1}', '{"never": 1}'].map((body) => ({
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body,
        status: 400,
        response: { code: 'invalid_input' },
      })),
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"none": 1}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
  },
  {
    section,
    feature: 'xml',
    note: 'Has no effect, which is a warning: bodies of XML are text or bytes.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties: { name: { type: string, xml: { attribute: true } } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '13:51 "xml" has no effect: bodies of XML are text or bytes.',
      '14:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"name": "a"}',
        status: 200,
        response: { body: { name: 'a' } },
      },
    ],
  },
  {
    section,
    feature: 'nullable',
    note: 'Of OpenAPI 3.0, but many documents of 3.1 have it. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: string
              nullable: true
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      "13:15 OpenAPI 3.0: nullable: true became the type 'null' (1 place).",
      '14:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: 'null',
        status: 200,
        response: { body: null },
      },
    ],
  },
  {
    section,
    feature: 'nullable beside allOf, anyOf and oneOf',
    note: 'Null is accepted, whatever the others say.',
    outcome: 'supported',
    contract: `openapi: 3.0.3
paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties:
                all: { type: object, nullable: true, allOf: [{ $ref: "#/components/schemas/Cat" }] }
                any: { type: object, nullable: true, anyOf: [{ $ref: "#/components/schemas/Cat" }] }
                one: { type: object, nullable: true, oneOf: [{ $ref: "#/components/schemas/Cat" }] }
                kind:
                  nullable: true
                  oneOf: [{ $ref: "#/components/schemas/Cat" }, { $ref: "#/components/schemas/Dog" }]
                  discriminator: { propertyName: kind }
                loose: { nullable: true, oneOf: [{ $ref: "#/components/schemas/Dog" }, { type: string, example: 1 }] }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Cat: { type: object, required: [kind], properties: { kind: { type: string } } }
    Dog: { type: object, nullable: true, required: [kind], properties: { kind: { type: string } } }
`,
    warnings: [
      '1:10 OpenAPI 3.0.3 is read as 3.1.0.',
      "15:38 OpenAPI 3.0: nullable: true became the type 'null' (6 places).",
      '22:113 Expected the example to be string, according to its schema.',
      '23:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"all": null, "any": null, "one": null, "kind": null, "loose": null}',
        status: 200,
        response: { body: { all: null, any: null, one: null, kind: null, loose: null } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"all": { "kind": "a" }, "any": { "kind": "a" }, "one": { "kind": "a" }, "kind": { "kind": "Cat" }}',
        status: 200,
      },
      ...['all', 'any', 'one', 'kind', 'loose'].map((name) => ({
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: `{"${name}": {}}`,
        status: 400,
        response: { code: 'invalid_input' },
      })),
    ],
  },
  {
    section,
    feature: '$id',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              $id: x
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['13:15 "$id" is not supported here: use components.schemas or $defs.'],
  },
  {
    section,
    feature: '$anchor',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              $anchor: x
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['13:15 "$anchor" is not supported here: use components.schemas or $defs.'],
  },
  {
    section,
    feature: '$dynamicRef',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              $dynamicRef: x
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['13:15 "$dynamicRef" is not supported here: use $ref.'],
  },
  {
    section,
    feature: '$dynamicAnchor',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              $dynamicAnchor: x
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['13:15 "$dynamicAnchor" is not supported here: use $ref.'],
  },
  {
    section,
    feature: '$vocabulary',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              $vocabulary: x
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['13:15 "$vocabulary" is not supported here: schemas have all vocabularies of JSON Schema 2020-12.'],
  },
  {
    section,
    feature: 'definitions',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              definitions: x
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['13:15 "definitions" is not supported here: use $defs.'],
  },
  {
    section,
    feature: 'dependencies',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              dependencies: x
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['13:15 "dependencies" is not supported here: use dependentRequired or dependentSchemas.'],
  },
  {
    section,
    feature: 'additionalItems',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              additionalItems: x
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['13:15 "additionalItems" is not supported here: use prefixItems with items.'],
  },
  {
    section,
    feature: 'an unknown keyword',
    note: 'A warning. Elsewhere, a field is an error if its name looks like a typo.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: string
              maxLenght: 1
              summary: { type: string }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '13:15 Unknown field "maxLenght" in this schema. Did you mean "maxLength"?',
      '14:15 Unknown field "summary" in this schema. Known fields: $ref, $schema, $comment, $defs, title, description, type, enum, const, default, example, examples, deprecated, readOnly, writeOnly, format, discriminator, externalDocs, xml, contentEncoding, contentMediaType, contentSchema, minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf, minLength, maxLength, x-max-bytes, pattern, items, prefixItems, contains, minContains, maxContains, minItems, maxItems, uniqueItems, properties, patternProperties, dependentRequired, dependentSchemas, propertyNames, additionalProperties, unevaluatedProperties, unevaluatedItems, required, minProperties, maxProperties, allOf, anyOf, oneOf, not, if, then, else.',
      '15:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"ab"',
        status: 200,
        response: { body: 'ab' },
      },
    ],
  },
  {
    section,
    feature: 'an unknown dialect',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              $schema: http://json-schema.org/draft-04/schema#
              type: string
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: [
      '12:24 Expected $schema to be one of https://json-schema.org/draft/2020-12/schema, https://json-schema.org/draft/2020-12/schema#, https://spec.openapis.org/oas/3.1/dialect/base; received "http://json-schema.org/draft-04/schema#". Did you mean "https://json-schema.org/draft/2020-12/schema#"?',
    ],
  },
  {
    section,
    feature: 'patterns of Java, Python and Ruby',
    note: 'Inline flags at the start, anchors and named groups are written as JavaScript has them. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: string
              pattern: '(?i)\\A[a-f]+-ok\\z'
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '13:15 Patterns with inline flags or other syntax of Java, Python and Ruby were written as JavaScript has them (1 place).',
      '14:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"aF-Ok"',
        status: 200,
        response: { body: 'aF-Ok' },
      },
      { request: 'POST /items', headers: { 'content-type': 'application/json' }, body: '"ag-ok"', status: 400 },
    ],
  },
  {
    section,
    feature: 'required: true in a property',
    note: 'As in drafts before 4. It has no effect, which is a warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties: { name: { type: string, required: true } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '13:51 "required" has no effect in a property: the object lists its required properties.',
      '14:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{}',
        status: 200,
        response: { body: {} },
      },
    ],
  },
  {
    section,
    feature: '$recursiveRef: #',
    note: 'A $ref to the schema with $recursiveAnchor. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              $recursiveAnchor: true
              type: object
              properties: { next: { $recursiveRef: '#' }, size: { type: integer } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '14:15 $recursiveRef of an earlier draft became a $ref to the schema with $recursiveAnchor (1 place).',
      '15:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"next":{"size":1}}',
        status: 200,
        response: { body: { next: { size: 1 } } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"next":{"size":"a"}}',
        status: 400,
      },
    ],
  },
  {
    section,
    feature: 'references to #/$defs in a schema',
    note: 'The $defs of the schema around the reference. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties: { size: { $ref: '#/$defs/Size' } }
              $defs: { Size: { type: integer } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '14:15 References to #/$defs became references to the $defs of the schema around them (1 place).',
      '15:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"size":1}',
        status: 200,
        response: { body: { size: 1 } },
      },
      { request: 'POST /items', headers: { 'content-type': 'application/json' }, body: '{"size":"a"}', status: 400 },
    ],
  },
  {
    section,
    feature: 'examples of a schema with names',
    note: 'They are ignored. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: string
              examples: { small: { value: a } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '13:15 Expected examples to be a list; received a mapping. They are ignored.',
      '14:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"a"',
        status: 200,
        response: { body: 'a' },
      },
    ],
  },
  {
    section,
    feature: 'an invalid pattern',
    note: 'It is not checked. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: string
              pattern: '[a-'
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '13:24 The pattern "[a-" is not checked, as it is not a regular expression of JavaScript.',
      '14:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"x"',
        status: 200,
        response: { body: 'x' },
      },
    ],
  },
  {
    section,
    feature: 'an invalid pattern in patternProperties',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              patternProperties: { '[a-': { type: string } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['13:36 Expected a regular expression as a key of patternProperties; received "[a-".'],
  },
  {
    section,
    feature: 'a default that does not match',
    note: 'The default is ignored. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties: { size: { type: integer, default: ten } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '13:61 Expected the default to be integer, according to its schema. It is ignored.',
      '14:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{}',
        status: 200,
        response: { body: {} },
      },
    ],
  },
  {
    section,
    feature: 'an enum value of another type',
    note: 'A scalar is read as the type of the schema. Other values are ignored. A warning for each.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: string
              enum: [1, b, null]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '13:22 Expected a value of type string; received 1. It is read as "1".',
      '13:28 Expected a value of type string; received null. It is ignored.',
      '14:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"1"',
        status: 200,
        response: { body: '1' },
      },
      { request: 'POST /items', headers: { 'content-type': 'application/json' }, body: 'null', status: 400 },
      { request: 'POST /items', headers: { 'content-type': 'application/json' }, body: '"c"', status: 400 },
    ],
  },
  {
    section,
    feature: 'defaults in alternatives of schemas that refer to each other',
    note: 'Only an alternative that matches fills in its defaults.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties:
                one: { anyOf: [{ $ref: '#/components/schemas/Box' }, { type: string }] }
                two: { anyOf: [{ $ref: '#/components/schemas/Lid' }, { $ref: '#/components/schemas/Bare' }] }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Box:
      type: object
      properties: { lid: { $ref: '#/components/schemas/Lid' }, label: { $ref: '#/components/schemas/Label' } }
    Lid:
      type: object
      properties: { box: { $ref: '#/components/schemas/Box' }, size: { type: integer } }
    Label: { type: object, properties: { text: { type: string, default: none } } }
    Bare:
      type: object
      properties: { box: { type: object, properties: { label: { type: object, maxProperties: 0 } } } }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"two":{"box":{"label":{}},"size":1}}',
        status: 200,
        response: { body: { two: { box: { label: { text: 'none' } }, size: 1 } } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"two":{"box":{"label":{}},"size":"a"}}',
        status: 200,
        response: { body: { two: { box: { label: {} }, size: 'a' } } },
      },
    ],
  },
  {
    section,
    feature: 'an empty enum',
    outcome: 'supported',
    note: 'It allows no value, so a property can only be absent.',
    contract: `paths:
  /items:
    get:
      operationId: listItems
      tags: [Items]
      summary: List items
      parameters: [{ name: state, in: query, schema: { type: string, enum: [] } }]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              properties: { name: { type: string }, state: { type: string, enum: [] } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '7:70 An empty enum allows no value.',
      '8:7 The operation does not declare these statuses, which the router can send: 400, 406, 429, 500, 503.',
      '20:76 An empty enum allows no value.',
      '21:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      { request: 'GET /items', status: 200, response: { query: {} } },
      {
        request: 'GET /items?state=open',
        status: 400,
        response: { error: 'Expected state to be absent; received "open".', field: 'state' },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"name":"a"}',
        status: 200,
        response: { body: { name: 'a' } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"state":"open"}',
        status: 400,
        response: { code: 'invalid_input', field: 'state' },
      },
    ],
    program: `
      // @ts-expect-error No state is allowed.
      await client.POST('/items', { body: { state: 'open' } });
`,
  },
  {
    section,
    feature: 'minimum above maximum',
    note: 'Neither is checked. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: integer
              minimum: 5
              maximum: 2
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '13:24 Expected minimum to be at most maximum, 2; received 5. Neither is checked.',
      '15:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '3',
        status: 200,
        response: { body: 3 },
      },
    ],
  },
  {
    section,
    feature: 'minLength above maxLength',
    note: 'Neither is checked. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: string
              minLength: 5
              maxLength: 2
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '13:26 Expected minLength to be at most maxLength, 2; received 5. Neither is checked.',
      '15:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"abc"',
        status: 200,
        response: { body: 'abc' },
      },
    ],
  },
  {
    section,
    feature: 'exclusiveMinimum that is not below the maximum',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: integer
              exclusiveMinimum: 5
              maximum: 5
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['13:33 Expected exclusiveMinimum to be below 5; received 5.'],
  },
  {
    section,
    feature: 'exclusiveMinimum: true',
    note: 'The form of OpenAPI 3.0, which excludes the minimum. A warning.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: integer
              minimum: 1
              exclusiveMinimum: true
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '14:15 OpenAPI 3.0: exclusiveMinimum: true became the bound itself (1 place).',
      '15:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      { request: 'POST /items', headers: { 'content-type': 'application/json' }, body: '1', status: 400 },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '2',
        status: 200,
        response: { body: 2 },
      },
    ],
  },
  {
    section,
    feature: 'an empty oneOf',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              oneOf: []
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['12:22 Expected oneOf to be a list of at least one value; received a list.'],
  },
  {
    section,
    feature: 'allOf with types that exclude each other',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              allOf: [{ type: string }, { type: integer }]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['12:15 No value can match all of these schemas: their types are string and integer.'],
  },
  {
    section,
    feature: 'a schema that applies itself to the same value',
    outcome: 'refused',
    contract: `paths: {}
components:
  schemas:
    Pet: { anyOf: [{ $ref: '#/components/schemas/Cat' }, { type: object }], example: {} }
    Cat: { allOf: [{ $ref: '#/components/schemas/Pet' }] }
`,
    errors: ['5:20 The schema applies itself to the same value, without end.'],
  },
  {
    section,
    feature: 'an empty list of types',
    outcome: 'refused',
    contract: `paths: {}
components:
  schemas:
    Pet: { type: [] }
`,
    errors: ['4:18 Expected type to be a list of at least one value; received a list.'],
  },
  {
    section,
    feature: 'a type that is not text',
    outcome: 'refused',
    contract: `paths: {}
components:
  schemas:
    Pet: { type: [{ type: string }], minLength: 3, allOf: [{ type: object }] }
`,
    errors: [
      '4:19 Expected each item of type to be one of array, boolean, integer, null, number, object, string; received a mapping.',
    ],
  },
  {
    section,
    feature: 'null without quotes in a list of types',
    outcome: 'refused',
    contract: `paths: {}
components:
  schemas:
    Name: { type: [string, null] }
`,
    errors: ['4:28 Expected each item of type to be text; received null. Use quotes: "null".'],
  },
  {
    section,
    feature: 'a bound that is not a number',
    outcome: 'refused',
    contract: `paths: {}
components:
  schemas:
    Size: { type: number, maximum: .nan }
`,
    errors: ['4:36 Expected maximum to be a number; received NaN.'],
  },
  {
    section,
    feature: 'a mapping to a schema that is not an alternative',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              oneOf: [{ $ref: "#/components/schemas/Cat" }]
              discriminator: { propertyName: kind, mapping: { dog: "#/components/schemas/Dog" } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Cat: { type: object, required: [kind], properties: { kind: { type: string }, lives: { type: integer } } }
    Dog: { type: object, required: [kind], properties: { kind: { type: string }, name: { type: string } } }
`,
    errors: ['13:68 Expected one of the alternatives; received "#/components/schemas/Dog".'],
  },
  {
    section,
    feature: 'a discriminator or a mapping without a value',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              oneOf: [{ $ref: "#/components/schemas/Cat" }]
              discriminator: { propertyName: kind, mapping: { dog: } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Pet: { oneOf: [{ $ref: "#/components/schemas/Cat" }], discriminator: }
    Pets: { oneOf: [{ $ref: "#/components/schemas/Cat" }], discriminator: { propertyName: kind, mapping: } }
    Cat: { type: object, required: [kind], properties: { kind: { type: string }, lives: { type: integer } } }
`,
    errors: [
      '13:63 Expected dog to be text; received nothing.',
      '18:59 Expected discriminator to be a mapping (discriminator); received nothing.',
      '19:97 Expected mapping to be a mapping; received nothing.',
    ],
  },
  {
    section,
    feature: 'a reference to nothing',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              $ref: "#/components/schemas/Item"
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['12:21 No component "Item" in components/schemas of openapi/example.yaml.'],
  },
  {
    section,
    feature: 'a reference to a document that is not listed',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              $ref: "items.yaml#/Item"
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: [
      '12:21 Expected $ref to refer to a document of this contract; received "items.yaml#/Item". List it, or a copy, in "documents" of trellis.config.ts.',
    ],
  },
  {
    section,
    feature: 'a reference to an anchor',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              $ref: "#item"
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['12:21 Expected $ref to contain a path, such as "#/components/schemas/Item"; received "#item".'],
  },
  {
    section,
    feature: 'a reference to the whole contract',
    outcome: 'refused',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              $ref: "#"
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    errors: ['12:21 The reference "#" leads to nothing.'],
  },
  {
    section,
    feature: 'a required property that is not described',
    note: 'A warning, and an error in strict contracts.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [id, titel]
              properties: { id: { type: integer }, title: { type: string } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '13:30 The required property "titel" is not described. Did you mean "title"?',
      '15:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"id": 1, "titel": "a"}',
        status: 200,
        response: { body: { id: 1, titel: 'a' } },
      },
    ],
  },
  {
    section,
    feature: 'a required property of a nullable schema',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              required: [size]
              allOf: [{ $ref: '#/components/schemas/Box' }]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
components:
  schemas:
    Box: { type: [object, 'null'], properties: { size: { type: integer }, name: { type: string } } }
`,
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{"size": 1}',
        status: 200,
        response: { body: { size: 1 } },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: 'null',
        status: 200,
        response: { body: null },
      },
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '{}',
        status: 400,
        response: { code: 'invalid_input' },
      },
    ],
    program: `await client.POST('/items', { body: null });
await client.POST('/items', { body: { size: 1 } });
// @ts-expect-error The size is required.
await client.POST('/items', { body: { name: 'a' } });
// @ts-expect-error The size is a number.
await client.POST('/items', { body: { size: undefined } });`,
  },
  {
    section,
    feature: 'duplicate enum values',
    note: 'A warning, and an error in strict contracts.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: string
              enum: [a, a]
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '13:25 The value "a" is listed twice.',
      '14:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"a"',
        status: 200,
        response: { body: 'a' },
      },
    ],
  },
  {
    section,
    feature: 'a keyword of another type',
    note: 'A warning, and an error in strict contracts.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: integer
              minLength: 1
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '13:15 "minLength" has no effect on type integer; it is for type string.',
      '14:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '1',
        status: 200,
        response: { body: 1 },
      },
    ],
  },
  {
    section,
    feature: 'a format that looks like a typo',
    note: 'A warning, and an error in strict contracts.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: string
              format: uid
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '13:23 The format "uid" is not validated. Did you mean "uuid"?',
      '14:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '"a"',
        status: 200,
        response: { body: 'a' },
      },
    ],
  },
  {
    section,
    feature: 'both minimum and exclusiveMinimum',
    note: 'A warning, and an error in strict contracts.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: integer
              minimum: 1
              exclusiveMinimum: 1
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '14:15 Expected either minimum or exclusiveMinimum; received both.',
      '15:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '2',
        status: 200,
        response: { body: 2 },
      },
    ],
  },
  {
    section,
    feature: 'an example that does not match',
    note: 'A warning, and an error in strict contracts.',
    outcome: 'supported',
    contract: `paths:
  /items:
    post:
      operationId: sendItem
      tags: [Items]
      summary: Send an item
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: integer
              example: a
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    warnings: [
      '13:24 Expected the example to be integer, according to its schema.',
      '14:7 The operation does not declare these statuses, which the router can send: 400, 406, 413, 415, 429, 500, 503.',
    ],
    exchanges: [
      {
        request: 'POST /items',
        headers: { 'content-type': 'application/json' },
        body: '1',
        status: 200,
        response: { body: 1 },
      },
    ],
  },
];
