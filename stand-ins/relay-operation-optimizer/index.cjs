/** Returns the documents as they are. */
exports.optimizeDocuments = (_schema, documents) => documents;
