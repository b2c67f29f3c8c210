import { ContractError, type Diagnostic } from '../../src/documents.js';
import { generateService, type ServiceConfig } from '../../src/openapi/preset.js';

/** Writes the lines that declare error responses. */
export const errorResponses = (...statuses: readonly number[]): string =>
  statuses.map((status) => `        '${status}': { $ref: 'common.yaml#/components/responses/Refused' }\n`).join('');

/** A small contract with an example of every feature that the generator handles separately. */
export const NOTES = `openapi: 3.1.0
info: { title: Notes, version: 1.0.0, license: { name: MIT, identifier: MIT } }
servers: [{ url: /notes }]
tags:
  - name: Notes
    description: Short texts.
paths:
  /notes:
    get:
      operationId: listNotes
      tags: [Notes]
      summary: List notes
      security: [{ session: [] }, { token: [read] }]
      parameters:
        - name: limit
          in: query
          schema: { type: integer, maximum: 50, default: 10 }
        - name: tag
          in: query
          schema: { type: array, items: { type: string } }
      responses:
        '200':
          description: Notes.
          headers:
            X-Total-Count: { required: true, schema: { type: integer } }
          content:
            application/json:
              schema: { type: array, items: { $ref: '#/components/schemas/Note' } }
              example: [{ id: 1, text: Buy milk }]
        '400': { $ref: 'common.yaml#/components/responses/Refused' }
${errorResponses(401, 403, 406, 429, 500, 503)}    post:
      operationId: createNote
      tags: [Notes]
      summary: Create a note
      security: [{ session: [] }]
      x-rate-limit: create
      x-reaches-out: true
      requestBody:
        required: true
        content:
          application/json:
            schema: { $ref: '#/components/schemas/NewNote' }
      responses:
        '201':
          description: The note.
          content:
            application/json: { schema: { $ref: '#/components/schemas/Note' } }
${errorResponses(400, 401, 403, 406, 413, 415, 429, 500, 503)}  /notes/changes:
    get:
      operationId: followNotes
      tags: [Notes]
      summary: Follow what is written
      security: [{ session: [] }, {}]
      responses:
        '200':
          description: Notes as they are written.
          content:
            text/event-stream:
              schema: { type: string }
              x-event: { $ref: '#/components/schemas/Note' }
${errorResponses(400, 403, 406, 429, 500, 503)}  /notes/{id}/picture:
    get:
      operationId: getPicture
      tags: [Notes]
      summary: Get the picture of a note
      security: []
      parameters:
        - name: id
          in: path
          required: true
          schema: { type: integer, minimum: 1 }
      responses:
        '200':
          description: The picture.
          content:
            image/png: {}
        '304':
          description: The same as before.
${errorResponses(400, 406, 429, 500, 503)}  /notes/import:
    post:
      operationId: importNotes
      tags: [Notes]
      summary: Import signed notes
      security: []
      parameters:
        - name: X-Signature
          in: header
          schema: { type: string, maxLength: 64 }
      requestBody:
        required: true
        x-max-bytes: 5000
        x-body: deferred
        content:
          application/json: { schema: { type: object } }
      responses:
        '204':
          description: The notes were imported.
${errorResponses(400, 413, 415, 429, 500, 503)}components:
  securitySchemes:
    session: { $ref: 'common.yaml#/components/securitySchemes/session' }
    token: { type: http, scheme: bearer, x-caller: token }
  schemas:
    Note:
      type: object
      required: [id, text]
      properties:
        id: { type: integer }
        text: { type: string }
    NewNote:
      type: object
      required: [text]
      properties:
        text: { type: string, maxLength: 100 }
        pinned: { type: boolean, default: false }
`;

export const COMMON = `openapi: 3.1.0
info: { title: Shared, version: 1.0.0, license: { name: MIT, identifier: MIT } }
components:
  securitySchemes:
    session: { type: apiKey, in: cookie, name: sid, x-caller: session }
  responses:
    Refused:
      description: Refused.
      content:
        application/json: { schema: { $ref: '#/components/schemas/Error' } }
  schemas:
    Error:
      type: object
      required: [error]
      properties:
        error: { type: string }
`;

/** The configuration of the small contract: the generated text names these modules. */
export const CONFIG: ServiceConfig = {
  service: 'dashboard',
  tokenVariable: 'NOTES_TOKEN',
  strict: true,
  modules: {
    callers: '#callers',
    client: '#client',
    clientCall: '#client',
    clientErrors: '#client',
    clientEvents: '#client',
    clientOptions: '#client-options',
    clientPaging: '#client-paging',
    clientPaths: '#client-paths',
    clientRetry: '#client-retry',
    operation: '#operation',
  },
};

export const NOTES_FILE = 'openapi/dashboard.yaml';
export const COMMON_FILE = 'openapi/common.yaml';

export function toDocuments(notes = NOTES, common = COMMON): ReadonlyMap<string, string> {
  return new Map([
    [NOTES_FILE, notes],
    [COMMON_FILE, common],
  ]);
}

/** Generates a file of `src/generated/dashboard` from the small contract. */
export async function generate(file: string, notes = NOTES): Promise<string> {
  const { files } = await generateService(CONFIG, toDocuments(notes));
  return files.get(file) ?? '';
}

export async function findDiagnostics(documents: ReadonlyMap<string, string>): Promise<readonly Diagnostic[]> {
  try {
    await generateService(CONFIG, documents);
    return [];
  } catch (error) {
    if (error instanceof ContractError) return error.diagnostics;
    throw error;
  }
}
