// Reads server-sent events from a POST. Yields [name, body] pairs.
export async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let buffer = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    buffer += value;
    let cut;
    while ((cut = buffer.indexOf("\n\n")) >= 0) {
      const frame = buffer.slice(0, cut);
      buffer = buffer.slice(cut + 2);
      const name = /^event: (.*)$/m.exec(frame)?.[1] ?? "message";
      const data = [...frame.matchAll(/^data: (.*)$/gm)].map((line) => line[1]).join("\n");
      yield [name, JSON.parse(data)];
    }
  }
}
