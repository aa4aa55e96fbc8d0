// /// script
// [tool.ledgeragent]
// npm = ["langchain@1.5.14", "@langchain/core@1", "@langchain/openai@1", "@langchain/anthropic@1"]
// wires = ["chat", "responses", "messages"]
// ///
/** LangChain JS: `createAgent` */

import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";
import { createAgent, tool } from "langchain";
import { KEY, POLICY, TOOLS, main, model, openai, task } from "./_shop.mjs";

function chatModel() {
  const asked = { model: model(), apiKey: KEY };
  if (task.wire === "messages") {
    return new ChatAnthropic({ ...asked, anthropicApiUrl: task.gateway });
  }
  const useResponsesApi = task.wire === "responses";
  return new ChatOpenAI({ ...asked, useResponsesApi, configuration: { baseURL: openai() } });
}

async function talk(turns) {
  const tools = TOOLS.map(({ name, description, parameters, execute }) =>
    tool(execute, { name, description, schema: parameters }),
  );
  const agent = createAgent({ model: chatModel(), tools, systemPrompt: POLICY });
  let messages = [];
  for (const content of turns) {
    const asked = { messages: [...messages, { role: "user", content }] };
    if (task.stream) {
      const streamMode = ["values", "messages"];
      for await (const [mode, chunk] of await agent.stream(asked, { streamMode })) {
        messages = mode === "values" ? chunk.messages : messages;
      }
    } else {
      messages = (await agent.invoke(asked)).messages;
    }
  }
  return messages.at(-1).text;
}

main(talk);
