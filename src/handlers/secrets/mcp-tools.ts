/** The tools for agents, which are operations of the secrets API. */
export const MCP_TOOLS = {
  name: 'trellis-secrets',

  instructions: `The client seals values (encrypts them with age) before it stores them, and opens them after it
reads them. This server never sees plain values. A secret's name may have several variants, each for different
consumers; "id" selects one.`,

  /** Readable copies and signatures are for clients that seal values themselves and have keys. */
  omittedFields: ['keep_readable_copy', 'signature', 'signatures'],

  tools: [
    {
      name: 'inject',
      operationId: 'createObject',
      description: 'Store a new secret. Seal the value (encrypt it with age) and encode it in base64 first.',
    },
    {
      name: 'get',
      operationId: 'getObject',
      description:
        'Read the sealed value of a secret in base64. Opening it requires the identity of one of its recipients.',
    },
    {
      name: 'update',
      operationId: 'updateObject',
      description: 'Replace the sealed value of a secret; the previous value becomes a version.',
    },
    {
      name: 'delete',
      operationId: 'deleteObject',
      description: 'Delete a secret with all its versions.',
    },
    {
      name: 'list',
      operationId: 'listObjects',
      description: 'List secrets with their tags and consumers, without values, and the total count.',
    },
  ],
} as const;
