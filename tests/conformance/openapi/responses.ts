import type { Row } from '../row.js';

const section = 'Responses';

export const rows: readonly Row[] = [
  {
    section,
    feature: 'a status code',
    outcome: 'supported',
    contract: `paths:
  /items/{id}:
    get:
      operationId: getItem
      tags: [Items]
      summary: Get an item
      parameters:
        - { name: id, in: path, required: true, schema: { type: integer } }
        - { name: tag, in: query, schema: { type: array, items: { type: string } } }
      responses:
        '200': { $ref: 'common.yaml#/components/responses/Echo' }
`,
    exchanges: [
      { request: 'GET /items/7?tag=a&tag=b', status: 200, response: { params: { id: 7 }, query: { tag: ['a', 'b'] } } },
      { request: 'GET /items/x', status: 400, response: { code: 'invalid_input', field: 'id' } },
    ],
  },
  {
    section,
    feature: 'no status code',
    outcome: 'refused',
    contract: `paths:
  /items:
    get:
      operationId: getItem
      tags: [Items]
      summary: Get an item
      responses: {}
`,
    errors: ['7:7 The operation has no response below 400, and no default response.'],
  },
];
