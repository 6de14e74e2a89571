package address

import "testing"

func TestStranger(t *testing.T) {
	for _, text := range []string{
		"キョウコ、聞こえる？", "ねえキョウコ、元気？", "京子さん、聞こえますか？", "きょうこちゃん、おはよう！", "Kyoko, are you there?", "Hey Kyoko, how are you?",
		"おはよう、ナツミ！", "アヤちゃん！", "Hello, Aya!", "今日はどうだった？アヤ、教えて。", "Thanks, Ben.",
	} {
		if !Stranger(text) {
			t.Errorf("%q calls nobody", text)
		}
	}
	for _, text := range []string{
		"みんな、聞こえる？", "ねえ、聞こえる？", "今日はいい天気だね。", "Hello, is anybody there?", "Well, who wants to talk?", "マジ、すごいね", "ラーメンが食べたい。",
		"昨日アキさんの動画を見たよ", "I saw Aki's video.", "Today, I went out.", "おはようございます！", "皆さん、こんにちは", "テレビを見た？", "Everyone, listen!", "なんで？", "",
		"OK, go on", "ハロー、聞こえますか？", "ゲームの話をしよう",
	} {
		if Stranger(text) {
			t.Errorf("%q calls somebody", text)
		}
	}
}
